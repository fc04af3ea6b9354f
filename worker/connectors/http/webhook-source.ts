import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { CepError } from '../../../shared/errors/error.ts';
import type { ConnectorSettings, Source, SourceReading, Webhook } from '../connector.ts';
import { textParameter } from '../parameters.ts';
import { latestOf } from '../profiles.ts';

/** Takes what others send to the server: it connects to nothing, and whoever serves the requests hands them to the pipeline. */
export class WebhookSource implements Source {
  readonly #current: () => Webhook;

  /** @param current What requests are taken by, asked for each. */
  constructor(current: () => Webhook) {
    this.#current = current;
  }

  get webhook(): Webhook {
    return this.#current();
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

/** Goes by the secret that its profile has now; one that cannot be is not taken. @throws CepError `connector_error` */
export function webhookSource(settings: ConnectorSettings): WebhookSource {
  let [from, webhook] = [latestOf(settings), webhookOf(settings)];
  return new WebhookSource(() => {
    const now = latestOf(settings);
    if (now === from) return webhook;
    from = now;
    try {
      webhook = webhookOf(now);
    } catch (cause) {
      settings.notTaken?.(cause);
    }
    return webhook;
  });
}

/** Without a secret requests carry no signature. @throws CepError `connector_error` */
function webhookOf({ name, parameters }: ConnectorSettings): Webhook {
  const secret = textParameter(parameters, 'secret');
  if (secret === undefined) return { isSigned: false, isGenuine: () => true };
  if (secret !== '') return signedWith(secret);
  throw new CepError('connector_error', `connector '${name}': its secret is empty, so everybody could sign with it`, {
    hint: 'write a secret of 16 characters or more, or leave it out, and requests need the API key',
  });
}
