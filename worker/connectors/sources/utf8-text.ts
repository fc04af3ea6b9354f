const BYTE_ORDER_MARK = /^\uFEFF/;

/** The text of bytes, without the byte order mark that some writers put before it (RFC 8259, section 8.1, lets a parser ignore it). */
export function utf8Text({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8').replace(BYTE_ORDER_MARK, '');
}
