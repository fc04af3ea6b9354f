import { randomUUID } from 'node:crypto';
import { nkeys } from 'nats';

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** What says of somebody who he is, signed by who may say so. */
function token(issuer: KeyPair, subject: KeyPair, claims: { readonly name: string; readonly nats: object; readonly exp?: number }): string {
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const body = {
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    ...claims,
  };
  const text = `${encoded({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encoded(body)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}

/** An operator with one account, as a server is told of them. */
export function natsAuthorities(): { readonly account: KeyPair; readonly config: string } {
  const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()];
  const unlimited = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const ofOperator = token(operator, operator, { name: 'operator', nats: { type: 'operator', version: 2 } });
  const ofAccount = token(operator, account, { name: 'account', nats: { type: 'account', version: 2, limits: unlimited } });
  return { account, config: `operator: ${ofOperator}\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: ${ofAccount} }\n` };
}

/** The text of a credentials file for a user, who is known until then. */
export function issue(account: KeyPair, user: KeyPair, expiresAt: number): string {
  const nats = { type: 'user', version: 2, subs: -1, data: -1, payload: -1 };
  const jwt = token(account, user, { name: 'user', exp: expiresAt, nats });
  const seed = Buffer.from(user.getSeed()).toString();
  const part = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;
  return `${part('NATS USER JWT', jwt)}\n${part('USER NKEY SEED', seed)}`;
}
