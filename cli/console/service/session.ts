import { presentableKey } from '../../../shared/security/presentable-key.ts';

/** What the console keeps for as long as its tab is open, and no longer. */
const keyName = 'cep.api-key';

let key = kept();

/** One that no request can carry, as builds before kept it, is as good as none. */
function kept(): string | null {
  const found = sessionStorage.getItem(keyName);
  return found !== null && presentableKey.test(found) ? found : null;
}

export function apiKey(): string | null {
  return key;
}

export function keepKey(given: string): void {
  key = given;
  sessionStorage.setItem(keyName, given);
}

export function forgetKey(): void {
  key = null;
  sessionStorage.removeItem(keyName);
}
