import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { watch } from 'chokidar';
import { CepError } from '../../shared/errors/error.ts';
import { followOutputs } from '../client/follow-outputs.ts';
import { outputText } from '../client/output-text.ts';
import { colorsFor } from '../colors.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counts.ts';
import type { Generator } from '../generators/generator.ts';
import { LocalServer } from '../hosting/local-server.ts';
import { DeployedPrograms } from './deployed-programs.ts';
import { aborted, EventFeed, isEventFile } from './event-feed.ts';

const DEBOUNCE_MS = 200;
/** Between two looks for a folder that is away. */
const AWAY_MS = 500;
const PORT = 9_000;

export interface DevelopSettings {
  readonly folder: string;
  /** Undefined: the usual one, or any that is free. */
  readonly port: number | undefined;
  /** In place of a file of events. */
  readonly generator: Generator | undefined;
  readonly rate: number;
}

/** Runs the programs of a folder in a server of its own, feeds them, shows their alerts, and takes over what is saved, until it is interrupted. */
export async function develop(settings: DevelopSettings, context: CliContext, interrupt: AbortSignal): Promise<void> {
  const { folder } = settings;
  const { stdout, stderr, env } = context;
  const line = (text: string): void => void stdout.write(`${text}\n`);
  const server = await startServerOn(settings.port, { workDir: folder, writeLog: (text) => void stderr.write(text), writeConsole: line });
  try {
    line(`server: ${server.url}`);
    line(`console: ${server.url}/console`);
    const followed = new Map<string, AbortController>();
    const onDeploy = (pipelineId: string): void => {
      const removal = new AbortController();
      followed.set(pipelineId, removal);
      const until = AbortSignal.any([interrupt, removal.signal]);
      void showOutputs({ server, pipelineId, context, until }).catch((error: unknown) => void stderr.write(`${error}\n`));
    };
    const onRemove = (pipelineId: string): void => {
      followed.get(pipelineId)?.abort();
      followed.delete(pipelineId);
    };
    const programs = new DeployedPrograms({ api: server.api, folder, context, colors: colorsFor(stdout, env), line, onDeploy, onRemove });
    await programs.update();
    line('saved files are taken over, Ctrl+C ends');
    // What fails in one half ends the other too.
    const failure = new AbortController();
    const until = AbortSignal.any([interrupt, failure.signal]);
    const failing = (error: unknown): void => failure.abort(error);
    const events = new EventFeed({ api: server.api, programs, line, signal: until });
    await Promise.all([
      watchFolder({ folder, programs, events, line, until, failing }).catch(failing),
      feed(settings, events).catch(failing),
    ]);
    failure.signal.throwIfAborted();
  } finally {
    await server.close();
  }
}

async function startServerOn(
  port: number | undefined,
  options: Omit<Parameters<typeof LocalServer.start>[0], 'port'>,
): Promise<LocalServer> {
  if (port !== undefined) return await LocalServer.start({ ...options, port });
  try {
    return await LocalServer.start({ ...options, port: PORT });
  } catch (error) {
    if (!(error instanceof CepError) || error.code !== 'runtime_error') throw error;
    return await LocalServer.start({ ...options, port: 0 });
  }
}

async function feed({ folder, generator, rate }: DevelopSettings, events: EventFeed): Promise<void> {
  if (generator !== undefined) await events.generate(generator, rate);
  else await events.playFolder(folder);
}

interface WatchedFolder {
  readonly folder: string;
  readonly programs: DeployedPrograms;
  readonly events: EventFeed;
  readonly line: (text: string) => void;
  readonly until: AbortSignal;
  readonly failing: (error: unknown) => void;
}

/** Takes over what is saved, one change after the other. */
async function watchFolder({ folder, programs, events, line, until, failing }: WatchedFolder): Promise<void> {
  const watcher = watch(folder, { ignoreInitial: true });
  let last = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let eventsTimer: NodeJS.Timeout | undefined;
  const update = (): void => {
    last = last
      .then(() => programs.update())
      .catch((error: unknown) => {
        if (error instanceof CepError) line(error.message);
        else failing(error);
      });
  };
  let away: NodeJS.Timeout | undefined;
  // A folder that was renamed or removed is watched no more, and may come back.
  const lookForIt = (): void => {
    if (!existsSync(folder)) return;
    clearInterval(away);
    watcher.add(folder);
    update();
    events.begin();
  };
  watcher.on('all', (kind, path) => {
    if (kind === 'unlinkDir' && resolve(path) === resolve(folder)) {
      watcher.unwatch(folder);
      clearInterval(away);
      away = setInterval(lookForIt, AWAY_MS);
    }
    if (isEventFile(basename(path))) {
      clearTimeout(eventsTimer);
      eventsTimer = setTimeout(() => events.begin(), DEBOUNCE_MS);
    }
    if (!path.endsWith('.vpl')) return;
    clearTimeout(timer);
    timer = setTimeout(update, DEBOUNCE_MS);
  });
  await aborted(until);
  clearTimeout(timer);
  clearTimeout(eventsTimer);
  clearInterval(away);
  await watcher.close();
  await last;
}

interface OutputsToShow {
  readonly server: LocalServer;
  readonly pipelineId: string;
  readonly context: CliContext;
  readonly until: AbortSignal;
}

async function showOutputs({ server: { api }, pipelineId, context, until: signal }: OutputsToShow): Promise<void> {
  const { stdout, stderr, env } = context;
  const onLost = ({ message }: Error): void => void stderr.write(`${message}\n`);
  for await (const followed of followOutputs({ api, pipelineId, after: '0', signal, onLost })) {
    if (followed.kind === 'output') stdout.write(outputText(followed.output, colorsFor(stdout, env)));
    else stderr.write(`${counted(followed.skipped, 'alert')} missed: the terminal is slower than the program\n`);
  }
}
