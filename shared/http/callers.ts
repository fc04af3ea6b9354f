/** What the HTTP conventions ask of the owner of the resources. */
export interface Callers<Caller> {
  /** False: everybody is let in, and `authenticate` takes any key. */
  readonly isAuthenticationOn: boolean;
  /** @throws CepError `missing_api_key`, `invalid_api_key` */
  authenticate(key: string | undefined): Caller;
  isAdmin(caller: Caller): boolean;
  /** Names the caller in limits and logs; never a secret. */
  nameOf(caller: Caller): string;
  /** Runs the action once per key of the caller; a repeat gets the first answer. @throws CepError `idempotency_conflict` */
  once<T>(request: { readonly caller: Caller; readonly key: string; readonly digest: string }, action: () => Promise<T>): Promise<T>;
}
