import type { Redis } from 'ioredis';

/** So many characters wait before they are written. */
const WAITING_MAX = 1_048_576;

/** A command that is written out already. */
export interface WrittenCommand {
  readonly name: string;
  readonly text: string;
}

/** Words as the protocol has them (RESP). */
export function wordsText(words: readonly string[]): string {
  let text = '';
  for (const word of words) text += `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
  return text;
}

const load = async () => {
  const { Command } = await import('ioredis');
  return class Written extends Command {
    readonly #text: string;

    constructor({ name, text }: WrittenCommand) {
      super(name);
      this.#text = text;
    }

    override toWritable(): string {
      return this.#text;
    }
  };
};
let loading: ReturnType<typeof load> | undefined;

/**
 * Sends commands behind each other, as few texts, and gives what the server says to each: undefined, or why not. A pipeline of the library
 * does the same, but writes each word of each command by itself, and makes two promises and an array more for each command.
 */
export async function sendTogether(client: Redis, commands: readonly WrittenCommand[]): Promise<readonly unknown[]> {
  loading ??= load();
  const Written = await loading;
  let waiting = '';
  const write = (): void => {
    if (waiting !== '') client.stream.write(waiting);
    waiting = '';
  };
  const collector = {
    write: (text: string): boolean => {
      waiting += text;
      if (waiting.length > WAITING_MAX) write();
      return true;
    },
  };
  // Of a stream the client calls nothing but `write`.
  const stream = collector as unknown as Parameters<Redis['sendCommand']>[1];
  const answers = commands.map((command) => client.sendCommand(new Written(command), stream));
  write();
  return (await Promise.allSettled(answers)).map((answer) => (answer.status === 'fulfilled' ? undefined : answer.reason));
}
