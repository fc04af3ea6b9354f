import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { CepError } from '../../shared/errors/error.ts';
import { BRACE_CLOSE, BRACE_OPEN, COMMA } from '../../shared/events/reading/characters.ts';
import { elementsIn } from '../../shared/events/reading/json-pieces.ts';
import { type ListRange, listRanges } from '../../shared/events/reading/list-ranges.ts';
import { listsSaid, withoutLists } from '../../shared/protocol/delivery-lists.ts';
import { deliveryRequestSchema, externalSource } from '../../shared/protocol/placements.ts';

type DeliveryRequest = Static<typeof deliveryRequestSchema>;
type DeliveryEvent = DeliveryRequest['batches'][number]['events'][number];

/** With its JSON as it came: read and written again, a number could be another one. */
export interface RoutedEvent extends DeliveryEvent {
  readonly text: string;
}

export interface DeliveredBatch extends Omit<DeliveryRequest['batches'][number], 'events'> {
  /** Of injected events a body with the list as it came, `{"events":[..]}`, as engines read it; else the events. */
  readonly events: Uint8Array | readonly RoutedEvent[];
}

export interface Delivery extends Omit<DeliveryRequest, 'batches'> {
  readonly batches: readonly DeliveredBatch[];
  /** See `LOG_END_HEADER`. */
  readonly logEnd?: number | undefined;
}

/** Made once: what other workers and coordinators send is most of what this server reads. */
const deliveries = Compile(deliveryRequestSchema);
/** Braces and brackets around the events of a batch. */
const EVENTS_DEPTH = 3;
const NAME = '"events":';

/**
 * What coordinators and other workers send. Injected events are left as they came, for the engine to read: everything around them is looked
 * at here. The bytes are used up: see `withName`. `said`: the header by which the sender says where the lists stand.
 * @throws CepError `invalid_json`, `validation_error`
 */
export function deliveryIn(body: Buffer, said?: string): Delivery {
  const told = asSaid(body, listsSaid(said, body));
  if (told !== undefined) return told;
  const lists = listRanges(body, EVENTS_DEPTH);
  return injected(body, lists) ?? routed(body, lists);
}

/** Undefined as well when what is said is not so: then it is looked for. */
function asSaid(body: Buffer, lists: readonly ListRange[] | undefined): Delivery | undefined {
  try {
    return lists && injected(body, lists);
  } catch {
    return undefined;
  }
}

/** Undefined when they are not injected, or when other lists stand there than those of the events. @throws CepError */
function injected(body: Buffer, lists: readonly ListRange[]): Delivery | undefined {
  const around = checked(withoutLists(body, lists));
  const isAll = lists.length === around.batches.length && around.batches.every(({ events }) => events.length === 0);
  if (around.from.placement_id !== externalSource || !isAll) return undefined;
  // Each event that came alone is one of them: to copy members that one does not name costs more than all else here.
  const batches = around.batches.map(({ sequence, received_at }, at) => {
    return { sequence, received_at, events: withName(body, lists[at] as ListRange) };
  });
  return { ...around, batches };
}

/** A body of its own for a list. Where it stands as coordinators write it, that is done with one byte, and nothing is copied. */
function withName(body: Buffer, { start, end }: ListRange): Uint8Array {
  const name = start - NAME.length;
  const isLast = body[end] === BRACE_CLOSE && body[name - 1] === COMMA;
  if (!isLast || body.toString('latin1', name, start) !== NAME)
    return Buffer.concat([Buffer.from(`{${NAME}`), body.subarray(start, end), Buffer.from('}')]);
  body[name - 1] = BRACE_OPEN;
  return body.subarray(name - 1, end + 1);
}

/** @throws CepError */
function routed(body: Buffer, lists: readonly ListRange[]): Delivery {
  const delivery = checked(body.toString('utf8'));
  if (lists.length !== delivery.batches.length) {
    throw new CepError(
      'validation_error',
      `body: found ${lists.length} lists of events in ${delivery.batches.length} batches, expected one in each`,
    );
  }
  const batches = delivery.batches.map((batch, at) => {
    const { start, end } = lists[at] as ListRange;
    const texts = elementsIn(body.toString('utf8', start, end));
    return { ...batch, events: batch.events.map((event, index) => ({ ...event, text: texts[index] as string })) };
  });
  return { ...delivery, batches };
}

function checked(text: string): DeliveryRequest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CepError('invalid_json', 'the body is no JSON', { cause });
  }
  if (deliveries.Check(value)) return value;
  const [first] = deliveries.Errors(value);
  throw new CepError(
    'validation_error',
    `body${(first?.instancePath ?? '').replaceAll('/', '.')}: ${first?.message ?? 'is not as it must be'}`,
  );
}
