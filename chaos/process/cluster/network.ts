/** A place for one process: an address of its own, and how a command is run there. */
export interface Place {
  readonly host: string;
  /** Of its API. */
  readonly port: number;
  /** What stands before a command. */
  readonly before: readonly string[];
}

/** Ways between places that can be cut. A place is known by its number; `outside` is whoever runs the test, with its sinks. */
export interface Links {
  /** What one sends does not reach the other any more. */
  cut(from: number, to: number): Promise<void>;
  /** Nothing of what comes in at a place, or goes to it, is certain to arrive. @param share 0 to 1 */
  lose(at: number, share: number): Promise<void>;
  /** What a place sends and is sent takes a while each time, overtakes and comes twice. @param program Of `CompiledTools` */
  unsettle(at: number, program: string): Promise<void>;
  /** Everything arrives again. */
  heal(): Promise<void>;
}

/** Where the processes of a run live. */
export interface Network {
  /** Address at which places reach whoever runs the test. */
  readonly outside: string;
  readonly places: readonly Place[];
  /** Undefined where nothing can be cut. */
  readonly links: Links | undefined;
  close(): Promise<void>;
}
