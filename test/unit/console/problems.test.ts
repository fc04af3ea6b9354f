import { expect, it } from 'vitest';
import { type Facts, problemsOf } from '../../../cli/console/service/problems.ts';
import type { Connector, PipelineEntry } from '../../../cli/console/service/shapes.ts';

const quiet: PipelineEntry = {
  id: 'p_1',
  name: 'quiet',
  status: 'running',
  version: 1,
  watched: false,
  created_at: 0,
  updated_at: 0,
  uptime_secs: 9,
  events_processed: 9,
  output_events_emitted: 1,
  events_invalid: 0,
  events_incomplete: 0,
  events_late: 0,
  events_unread: 0,
  events_refused: 0,
  requests_refused: 0,
  events_in_flight: 0,
  dlq_events: 0,
  active_runs: 0,
  state_bytes: 0,
  watermark: null,
};

const sink = {
  pipeline_id: 'p_1',
  pipeline: 'quiet',
  name: 'Out',
  type: 'http',
  direction: 'sink',
  opened: 1,
  delivered: 0,
  pending: 0,
  dlq_events: 0,
  dlq_dropped: 0,
} as const;

const found = (facts: Partial<Facts>): string[] =>
  problemsOf({ pipelines: [], connectors: [], rate: () => 0, ...facts }).map(({ tone, subject, text }) => `${tone} ${subject}: ${text}`);

it('finds nothing where all is well', () => {
  expect(found({ pipelines: [quiet], connectors: [{ ...sink, state: 'closed' }] })).toEqual([]);
});

it('puts what is broken before what is lost, and what goes on before what is over', () => {
  const failed: PipelineEntry = { ...quiet, id: 'p_2', name: 'broken', status: 'failed', error: 'no thread' };
  const late: PipelineEntry = { ...quiet, id: 'p_3', name: 'late', events_late: 900 };
  const losing: PipelineEntry = { ...quiet, id: 'p_4', name: 'losing', dlq_events: 1 };
  const source: Connector = {
    pipeline_id: 'p_1',
    pipeline: 'quiet',
    name: 'In',
    type: 'mqtt',
    direction: 'source',
    state: 'disconnected',
    problem: 'refused',
    received: 0,
    unreadable: 0,
  };
  const rate: Facts['rate'] = (id) => (id === 'p_4' ? 2 : 0);
  expect(
    found({ pipelines: [late, losing, failed], connectors: [{ ...sink, state: 'open', problem: 'the answer was 500' }, source], rate }),
  ).toEqual([
    'bad broken: failed: no thread',
    'bad quiet / Out: breaker open: nothing is sent, events become dead letters (the answer was 500)',
    'bad quiet / In: reads nothing, not connected: refused',
    'warn losing: 1 dead letter: a sink did not take it',
    'warn late: 900 events too late for a window, a run or a join',
  ]);
});

it('says when the server keeps nothing, and when a quota is used up', () => {
  const quota = { max_pipelines: 2, max_events_per_second: 1, max_streams_per_pipeline: 1, max_state_bytes: 1 };
  const usage = {
    tenant_id: 't',
    tenant_name: 't',
    events_processed: 0,
    output_events_emitted: 0,
    active_pipelines: 2,
    events_rejected: 0,
    requests_rejected: 0,
    quota,
  };
  expect(found({ usage, serverProblem: 'the disk is full' })).toEqual([
    'bad server: the disk is full',
    'warn server: all 2 pipelines of the quota are used: no other can be deployed',
  ]);
});

it('says once that a sink is cut off, and of what a pipeline suffers besides', () => {
  const degraded: PipelineEntry = { ...quiet, status: 'degraded', error: 'the circuit breaker is open: Out', failing_connectors: ['Out'] };
  const open: Connector = { ...sink, state: 'open', problem: 'the answer was 500' };
  expect(found({ pipelines: [degraded], connectors: [open] })).toEqual([
    'bad quiet / Out: breaker open: nothing is sent, events become dead letters (the answer was 500)',
  ]);
  expect(found({ pipelines: [degraded], connectors: [] })).toEqual(['warn quiet: degraded: the circuit breaker is open: Out']);
  // Whose problem it is says the field, not the text.
  const { failing_connectors: _, ...ofProgram } = degraded;
  expect(found({ pipelines: [ofProgram], connectors: [open] })).toContain('warn quiet: degraded: the circuit breaker is open: Out');
  const ofTwo: PipelineEntry = { ...degraded, failing_connectors: ['Out', 'Other'] };
  expect(found({ pipelines: [ofTwo], connectors: [open] })).toContain('warn quiet: degraded: the circuit breaker is open: Out');
});
