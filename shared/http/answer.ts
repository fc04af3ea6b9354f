const ofJson = Object.freeze({ 'content-type': 'application/json; charset=utf-8' });

/** An answer that is not just data for the first success: another status, headers, or text that is made already. */
export class Answer {
  readonly status: number;
  /** Data to be written as JSON; text and bytes are written as they are. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }

  /** JSON text that is made already. */
  static json(status: number, text: string | Uint8Array): Answer {
    return new Answer(status, text, ofJson);
  }
}
