import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { CepError } from '../../../shared/errors/error.ts';
import type { Source, SourceReading, Webhook } from '../connector.ts';

/** Takes what others send to the server: it connects to nothing, and whoever serves the requests hands them to the pipeline. */
export class WebhookSource implements Source {
  readonly webhook: Webhook;

  /** @param secret Undefined: requests carry no signature. */
  constructor(secret: string | undefined) {
    this.webhook = secret === undefined ? { isSigned: false, isGenuine: () => true } : signedWith(secret);
  }

  start(reading: SourceReading): void {
    reading.connected();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function signedWith(secret: string): Webhook {
  return {
    isSigned: true,
    isGenuine: (body, signature) => {
      const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
      // Of digests, which are of one length, so that the time says nothing of the signature.
      return timingSafeEqual(digestOf(expected), digestOf(signature.toLowerCase()));
    },
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** @throws CepError `connector_error` */
export function webhookSource(name: string, secret: string | undefined): WebhookSource {
  if (secret !== '') return new WebhookSource(secret);
  throw new CepError('connector_error', `connector '${name}': its secret is empty, so everybody could sign with it`, {
    hint: 'write a secret of 16 characters or more, or leave it out, and requests need the API key',
  });
}
