import { createHash } from 'node:crypto';
import { CepError } from '../../../shared/errors/error.ts';
import type { PipelineSources } from '../../connectors/sources/pipeline-sources.ts';
import type { ArrivalClock } from '../arrival-clock.ts';
import { countedText } from '../programs/checkpoint-document.ts';
import type { CheckpointResult, ReloadReport, RestoreResult } from '../service.ts';
import type { CheckReply, CountersReply, ProgramSummary, SwitchReply } from '../threads/messages.ts';
import type { Intake } from './intake.ts';
import type { PipelineRecord } from './pipeline-record.ts';
import type { PipelineSaver } from './pipeline-saver.ts';
import type { PipelineTally } from './pipeline-tally.ts';
import type { PipelineDefinition, SourcePositions } from './runtime-storage.ts';
import type { SourceMarks } from './source-marks.ts';

export type ProgramReport = Omit<ReloadReport, 'warnings'>;

export interface SwitchParts {
  readonly pipelineId: string;
  readonly clock: ArrivalClock;
  readonly intake: Intake;
  readonly tally: PipelineTally;
  readonly saver: PipelineSaver;
  readonly record: PipelineRecord;
  readonly sources: PipelineSources;
  readonly marks: SourceMarks;
  /** Opens the connectors of a program. @throws CepError `connector_error`; then nothing has changed */
  readonly connect: (summary: ProgramSummary) => void;
}

type Decision =
  | {
      readonly change: Partial<PipelineDefinition>;
      readonly counts?: Readonly<Record<string, number>>;
      /** Where the clock of the server stood that gave the state, epoch ms. */
      readonly createdAt?: number;
      readonly positions?: SourcePositions;
    }
  | { readonly refusal?: CepError };

/** @param format Of the states that it saves; undefined: the latest. */
type MakeEngine = (format: number | undefined) => Promise<SwitchReply>;

/** Puts one engine in the place of another: a changed program, or the state of a checkpoint. Only one may be under way. */
export class EngineSwitch {
  readonly #parts: SwitchParts;

  constructor(parts: SwitchParts) {
    this.#parts = parts;
  }

  async checkpoint(): Promise<CheckpointResult> {
    const { pipelineId, clock, tally, intake, record, marks } = this.#parts;
    await intake.repeated();
    const sourceHash = createHash('sha256').update(record.definition.program.source).digest('hex');
    const sources = marks.save(intake.sentMarks);
    const call = { kind: 'document', pipelineId, sourceHash, createdAt: clock.now(), sources } as const;
    return await intake.call<string, CheckpointResult>(
      (slot) => ({ ...call, slot }),
      (uncounted) => {
        // What the state has is counted by now, and nothing behind it.
        const { eventsProcessed, eventsInvalid, eventsRefused, outputEventsEmitted } = tally.counts();
        const counters = {
          events_processed: eventsProcessed,
          events_invalid: eventsInvalid,
          events_refused: eventsRefused,
          output_events_emitted: outputEventsEmitted,
        };
        return { pipelineId, checkpointJson: countedText(uncounted, counters), eventsProcessed };
      },
    );
  }

  /**
   * Nothing that sources gave before is left when the state is another: they go on from where that stands, or its group does. `finish`:
   * reads no more, and works through what was accepted.
   */
  async restore(document: Uint8Array, finish: () => Promise<void>): Promise<RestoreResult> {
    const { pipelineId, intake, sources, record, connect } = this.#parts;
    await finish();
    let reply: SwitchReply;
    try {
      reply = await this.#switch(
        () => intake.call<SwitchReply>((slot) => ({ kind: 'restore', slot, document })),
        ({ counters, createdAt, sources: positions }) => ({
          change: {},
          counts: counters,
          createdAt,
          positions: ownPositions(positions as SourcePositions, record.definition.summary),
        }),
      );
    } finally {
      connect(record.definition.summary);
      void sources.start();
    }
    const { preserved, reset, changed, lostState, added, counters } = reply;
    const keptAll = [...changed, ...reset].filter((name) => !lostState.includes(name));
    return {
      pipelineId,
      eventsRestored: counters['events_processed'] ?? 0,
      preserved: [...preserved, ...keptAll],
      reset: [...lostState, ...added],
    };
  }

  /** The program has been checked. */
  async reload(
    program: NonNullable<CheckReply['program']>,
    { dryRun, acceptReset }: { readonly dryRun: boolean; readonly acceptReset: boolean },
  ): Promise<ProgramReport> {
    const { intake, record } = this.#parts;
    const reply = await this.#switch(
      (format) =>
        intake.call<SwitchReply>((slot) => ({
          kind: 'reload',
          slot,
          program: program.text,
          isWatched: record.definition.isWatched ?? false,
          format,
        })),
      (given) => {
        if (dryRun) return {};
        if (!acceptReset && given.lostState.length > 0) return { refusal: wouldReset(reportOf(given, false)) };
        return { change: { program: program.text, summary: given.summary, version: record.definition.version + 1, updatedAt: Date.now() } };
      },
    );
    return reportOf(reply, !dryRun);
  }

  /** The same program in an engine that remembers the events behind its outputs, or in one that does not. */
  async watch(isWatched: boolean): Promise<void> {
    const { intake, record } = this.#parts;
    const { program } = record.definition;
    await this.#switch(
      (format) => intake.call<SwitchReply>((slot) => ({ kind: 'reload', slot, program, isWatched, format })),
      () => ({ change: { isWatched } }),
    );
  }

  /**
   * Makes another engine, and puts it in the place of the one that runs once that is on disk. While this is under way nothing is
   * sent to either, so that all input before it is of the one, and all behind it of the other.
   */
  #switch(make: MakeEngine, decide: (reply: SwitchReply) => Decision): Promise<SwitchReply> {
    return this.#parts.saver.whileSwitching(() => this.#change(make, decide));
  }

  async #change(make: MakeEngine, decide: (reply: SwitchReply) => Decision): Promise<SwitchReply> {
    const { intake, saver } = this.#parts;
    const { stateFormat } = saver;
    await intake.repeated();
    intake.pause();
    try {
      const sequence = intake.lastSent;
      const reply = await make(stateFormat);
      const decision = decide(reply);
      if ('change' in decision) await this.#take(reply, { sequence, stateFormat }, decision);
      else intake.settle(false);
      if ('refusal' in decision && decision.refusal) throw decision.refusal;
      return reply;
    } finally {
      intake.resume();
    }
  }

  async #take(
    reply: SwitchReply,
    { sequence, stateFormat }: { readonly sequence: number; readonly stateFormat: number | undefined },
    { change, counts, createdAt = 0, positions = {} }: Extract<Decision, { change: unknown }>,
  ): Promise<void> {
    const { intake, clock, tally, saver, connect, record, marks } = this.#parts;
    const before = { summary: record.definition.summary, counts: tally.counts() };
    let unmark: (() => void) | undefined;
    try {
      connect(reply.summary);
      unmark = marks.restore(positions);
      if (counts) tally.restore(counts);
      await record.change(change, saver.checkpointOf({ sequence, state: reply.state, stateFormat }, createdAt));
    } catch (error) {
      intake.settle(false);
      tally.replace(before.counts);
      unmark?.();
      connect(before.summary);
      throw error;
    }
    intake.settle(true);
    clock.notBefore(createdAt);
    if (counts) this.#countOn(reply.counts);
    else this.#count();
    intake.rebase({ sequence, state: reply.state });
    saver.isSaved(sequence);
    tally.stateBytes = reply.state.byteLength;
  }

  /** Until something happens nobody else tells of streams that are new. */
  #count(): void {
    const { intake, tally } = this.#parts;
    const take = (counters: CountersReply): void => {
      tally.counters = counters;
    };
    intake.call<CountersReply>((slot) => ({ kind: 'counters', slot })).then(take, () => undefined); // Its thread was lost: opening it again tells.
  }

  /** What the engine before counted may still be on its way; it says nothing of the one that runs now. */
  #countOn(counts: SwitchReply['counts']): void {
    const { intake, tally } = this.#parts;
    const goOn = tally.countFrom(counts);
    intake.call((slot) => ({ kind: 'counters', slot }), goOn).catch(goOn);
  }
}

function reportOf({ added, removed, preserved, reset, changed, lostState }: SwitchReply, reloaded: boolean): ProgramReport {
  return { reloaded, added, removed, preserved, reset, changed, lostState };
}

/** A checkpoint may have come from anywhere: what it says of sources that the program does not have is not kept. */
function ownPositions(positions: SourcePositions, { sources }: ProgramSummary): SourcePositions {
  const own = new Set(sources.map(({ id }) => id));
  return Object.fromEntries(Object.entries(positions).filter(([id]) => own.has(id)));
}

function wouldReset(report: ProgramReport): CepError {
  return new CepError('state_would_reset', `these streams would lose state: ${report.lostState.join(', ')}`, {
    hint: 'repeat the request with accept_reset, or keep their operators as they are',
    details: report,
  });
}
