/** What the console keeps for as long as its tab is open, and no longer. */
const keyName = 'cep.api-key';

let key = sessionStorage.getItem(keyName);

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
