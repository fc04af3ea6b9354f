import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import type { Follower, OutputCursor } from '../../runtime/service.ts';
import { outputMessage } from '../output-text.ts';
import type { Turns } from './turns.ts';

export interface OutputFeedOptions {
  readonly follow: (follower: Follower) => OutputCursor;
  /** Id of the attached pipeline; undefined for the program of the connection itself. */
  readonly attachedId: string | undefined;
  readonly turns: Turns;
  readonly telemetry: Telemetry;
  /** Whether the client has enough to read. */
  readonly isFull: () => boolean;
  readonly send: (text: string) => void;
  /** What `send` is given meanwhile goes out in one write. */
  readonly together: (sends: () => void) => void;
  /** The pipeline is gone, and everything of it was sent. */
  readonly onEnd: () => void;
}

/** Outputs of one pipeline for one WebSocket client, as fast as the client reads. */
export class OutputFeed {
  readonly #options: OutputFeedOptions;
  readonly #cursor: OutputCursor;
  #isEnding = false;
  #isClosed = false;

  constructor(options: OutputFeedOptions) {
    this.#options = options;
    this.#cursor = options.follow({
      onReadable: () => this.resume(),
      onEnd: () => {
        this.#isEnding = true;
        this.resume();
      },
    });
    this.resume();
  }

  /** The client may have room again. */
  resume(): void {
    if (!this.#isClosed) this.#options.turns.add(this.#pump);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.turns.drop(this.#pump);
    this.#cursor.close();
  }

  readonly #pump = (): void => this.#options.together(() => this.#sendReady());

  #sendReady(): void {
    const { attachedId, isFull, send, telemetry, onEnd } = this.#options;
    while (!this.#isClosed && !isFull()) {
      const { skipped, outputs } = this.#cursor.read(1);
      if (skipped > 0) {
        send(JSON.stringify({ type: 'gap', skipped, ...(attachedId === undefined ? {} : { pipeline_id: attachedId }) }));
        telemetry.report('ClientMissedEvents', { transport: 'websocket', skipped });
      }
      for (const output of outputs) send(outputMessage(output, attachedId));
      if (outputs.length > 0 || skipped > 0) continue;
      if (this.#isEnding) onEnd();
      return;
    }
  }
}
