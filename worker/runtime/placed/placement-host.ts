import type { CepError } from '../../../shared/errors/error.ts';
import type { HostedPipeline } from '../pipelines/hosted-pipeline.ts';
import type { PipelineCheckpoint } from '../pipelines/runtime-storage.ts';
import type { SentProgram } from '../programs/sent-program.ts';
import type { Runtime } from '../service.ts';
import type { CheckReply } from '../threads/messages.ts';
import type { WarmEngine } from '../threads/warm-engine.ts';
import type { Placing } from './placing.ts';

/** What there is of a program without errors. */
export type CheckedProgram = NonNullable<CheckReply['program']>;

/** A program that is to run here soon: what it needs besides its state is done. */
export interface WarmProgram {
  readonly program: CheckedProgram;
  /** To be left when it is not taken over. */
  readonly engine: WarmEngine;
}

export interface PlaceRequest {
  /** Stable: part of the ids of its outputs, and of the names by which brokers know it. */
  readonly id: string;
  readonly name: string;
  readonly program: CheckedProgram;
  /** Of this program, without a state. */
  readonly engine?: WarmEngine | undefined;
  /** What it goes on with. @default it begins */
  readonly checkpoint: PipelineCheckpoint | undefined;
  readonly placing: Placing;
  /** Nothing is read from connectors before it resolves. */
  readonly opened: Promise<void>;
}

/** Where pipelines run that a cluster has placed here. They are in nobody's list, and nobody but the cluster changes them. */
export interface PlacementHost {
  /** What is placed here first is not to wait for what can be made ready before. */
  prepare(): void;
  /** Nothing runs yet, so whatever else a start needs can be fetched meanwhile. @throws CepError, as `Pipelines.deploy` */
  check(program: SentProgram): Promise<CheckedProgram>;
  /** Checks a program and has an engine of it at hand. @throws CepError, as `Pipelines.deploy` */
  warm(program: SentProgram): Promise<WarmProgram>;
  /** Starts a program. @throws CepError, as `Pipelines.deploy`; nothing of it is left then */
  place(request: PlaceRequest): Promise<PlacedPipeline>;
  /** Puts another program in its place, its state kept. @throws CepError, as `Pipelines.reload` */
  replace(pipeline: PlacedPipeline, program: SentProgram): Promise<void>;
  /** It has no right to run any more, or is to be forgotten: nothing more of it is said or kept. */
  abandon(pipeline: PlacedPipeline, reason: CepError): void;
}

export type PlacedPipeline = Pick<
  HostedPipeline,
  | 'id'
  | 'view'
  | 'status'
  | 'receive'
  | 'received'
  | 'outputsChanged'
  | 'saveNow'
  | 'close'
  | 'caughtUp'
  | 'bury'
  | 'abandon'
  | 'start'
  | 'metrics'
  | 'definition'
  | 'stateBytes'
>;

/** The runtime of a server, with what a cluster places there. */
export interface HostRuntime extends Runtime {
  readonly placements: PlacementHost;
}
