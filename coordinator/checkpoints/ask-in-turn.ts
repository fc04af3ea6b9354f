export interface InTurnOptions<Peer, Answer> {
  /** In the order in which they are asked. */
  readonly among: readonly Peer[];
  /** How many have to give an answer; so many are asked at a time. */
  readonly count: number;
  /** Beside one that is silent for so long another one is asked, ms. */
  readonly silenceMsMax: number;
  /** For all of it, ms. */
  readonly msMax: number;
  /** Undefined: this one gives none, and another one is asked. Never throws; the signal ends it. */
  readonly ask: (peer: Peer, signal: AbortSignal) => Promise<Answer | undefined>;
}

/** The answers of the first that give one, fewer when no more do. Whoever has not answered by then is waited for no longer. */
export function askInTurn<Peer, Answer>({ among, count, silenceMsMax, msMax, ask }: InTurnOptions<Peer, Answer>): Promise<Answer[]> {
  const queue = [...among];
  const underWay = new Set<AbortController>();
  const waits = new Set<NodeJS.Timeout>();
  const answers: Answer[] = [];
  return new Promise((resolve) => {
    const end = (): void => {
      for (const wait of waits) clearTimeout(wait);
      for (const request of underWay) request.abort();
      queue.length = 0;
      resolve(answers);
    };
    const isOver = (): boolean => answers.length >= count || underWay.size === 0;
    const askNext = async (): Promise<void> => {
      const [peer] = queue.splice(0, 1);
      if (peer === undefined) return;
      const request = new AbortController();
      underWay.add(request);
      const wait = setTimeout(() => {
        waits.delete(wait);
        void askNext();
      }, silenceMsMax);
      waits.add(wait);
      const answer = await ask(peer, request.signal);
      clearTimeout(wait);
      underWay.delete(request);
      if (answer !== undefined) answers.push(answer);
      // Who was silent before has been replaced already.
      if (waits.delete(wait) && answer === undefined) void askNext();
      if (isOver()) end();
    };
    waits.add(setTimeout(end, msMax));
    for (let place = 0; place < count; place++) void askNext();
    if (isOver()) end();
  });
}
