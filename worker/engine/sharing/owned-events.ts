import type { TextPlace } from '../fusion/event-entry.ts';
import type { EventShare } from './event-share.ts';
import { keyHash } from './key-hash.ts';

/** Whether an event that came as scalars is the engine's own, by its key and the place where a reader keeps that. */
export type OwnsEvent = (key: unknown, place: TextPlace | undefined) => boolean;

/** For the events of a type. */
export function ownedEvents(share: EventShare, type: string): OwnsEvent {
  if ((share.keys.get(type) ?? null) === null) return () => share.own(share.inTurn());
  const owners = new Owners(share.count);
  return (key, place) => share.own(place === undefined ? owners.of(key) : owners.at(key, place));
}

const UNKNOWN = 0;

/** Whose keys are; of texts by the places in which a reader keeps them. */
class Owners {
  private readonly count: number;
  private texts: TextPlace['texts'] | undefined;
  /** One more than the number, by place. */
  private owners = new Uint16Array(1024);

  constructor(count: number) {
    this.count = count;
  }

  of(value: unknown): number {
    return keyHash(value) % this.count;
  }

  at(text: unknown, place: TextPlace): number {
    if (place.at < 0) return this.of(text);
    if (this.texts === place.texts && place.at < this.owners.length) {
      const known = this.owners[place.at] as number;
      if (known !== UNKNOWN) return known - 1;
    }
    return this.#learn(text, place);
  }

  #learn(text: unknown, { texts, at }: TextPlace): number {
    if (this.texts !== texts) {
      this.texts = texts;
      this.owners.fill(UNKNOWN);
    }
    if (at >= this.owners.length) {
      const grown = new Uint16Array(2 ** Math.ceil(Math.log2(at + 1)) * 2);
      grown.set(this.owners);
      this.owners = grown;
    }
    const owner = this.of(text);
    this.owners[at] = owner + 1;
    return owner;
  }
}
