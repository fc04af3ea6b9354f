declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
  }

  /** Answers by class of status. */
  export interface Result {
    readonly '2xx': number;
    readonly non2xx: number;
  }

  export default function autocannon(options: Options): Promise<Result>;
}
