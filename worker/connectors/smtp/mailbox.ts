/** Whom a mail is from or for. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

const bare = String.raw`[^\s<>@,;()"\\]+@[^\s<>@,;()"\\]+`;
const pattern = new RegExp(String.raw`^(?:(?<name>[^<>\r\n]*)<)?(?<address>${bare})>?$`);

/** Of `name@example.com` or `Name <name@example.com>`; undefined where it is anything else, or several. */
export function mailboxOf(text: string): Mailbox | undefined {
  const { name = '', address } = pattern.exec(text)?.groups ?? {};
  return address === undefined ? undefined : { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
}
