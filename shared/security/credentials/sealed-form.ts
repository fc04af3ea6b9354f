/** How a text under lock is written: nonce of 96 bits, data and tag in base64url. */
export const sealedForm = /^ENC\[AES256-GCM,key:([0-9a-f]{8}),nonce:([\w-]{16}),data:([\w-]*),tag:([\w-]{22})\]$/;

/** Whether the text is one under lock. Whether it opens, only a key can say. */
export function isSealed(text: string): boolean {
  return sealedForm.test(text);
}
