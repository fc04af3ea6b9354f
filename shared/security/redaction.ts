/** What stands in the place of a secret. */
export const hidden = '[REDACTED]';

/** Secrets shorter than this are words of their own and would tear holes into texts that mean something else. */
const secretLengthMin = 6;

/** Words in the names of parameters that hold a secret, whatever stands around them, and names that are one as they are. */
const secretWords =
  'token|passw(?:or)?d|passphrase|pwd|secret|signature|credential|(?:api|access|auth|account|private|shared|subscription)[_.-]?key';
const secretNames = 'sig|auth|authorization|pass';

/** Places of a text where a secret stands whatever its value is. */
const secretPlaces: readonly (readonly [RegExp, string])[] = [
  // Of a bounded length, so that a long text is gone through once.
  [new RegExp(String.raw`([?&](?:[\w.-]{0,40}?(?:${secretWords})[\w.-]{0,40}|${secretNames})=)[^&\s"'<>\\]+`, 'gi'), `$1${hidden}`],
  [/\b(bearer\s+)[\w.~+/=-]+/gi, `$1${hidden}`],
  [/\b(cep-auth(?:-base64url)?\.)[\w.~+/=-]+/g, `$1${hidden}`],
  // Without the scheme before it, which in a long word would be looked for from each of its letters on.
  [/(:\/\/[^\s:/@"'\\]*:)[^\s@/"'\\]+@/g, `$1${hidden}@`],
];

/** Takes known secrets, and what stands where secrets stand, out of texts that people or files will see. */
export class Redactor {
  readonly #secrets = new Set<string>();
  #pattern: RegExp | undefined;

  /** From now on the text is hidden wherever it appears, also as it is written inside JSON or a URL. */
  add(secret: string): void {
    if (secret.length < secretLengthMin) return;
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) this.#secrets.add(form);
    const longestFirst = [...this.#secrets].sort((a, b) => b.length - a.length);
    this.#pattern = new RegExp(longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
  }

  redact(text: string): string {
    const known = this.#pattern ? text.replace(this.#pattern, hidden) : text;
    return secretPlaces.reduce((rest, [place, replacement]) => rest.replace(place, replacement), known);
  }
}
