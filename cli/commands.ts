import type { CommandClass } from 'clipanion';
import type { CliContext } from './context.ts';

/** A command: the words that call it, and its class, which is read only when a command that begins with its first word is called. */
export interface CommandRow {
  readonly words: string;
  readonly load: () => Promise<CommandClass<CliContext>>;
  /** It reads the definitions of all commands, which are read with it. @default false */
  readonly readsAll?: true;
}

/** The table of commands. A name that is written as two words stands in the table as two words. */
export const commands: readonly CommandRow[] = [
  { words: 'init', load: async () => (await import('./init.ts')).InitCommand },
  { words: 'dev', load: async () => (await import('./dev.ts')).DevCommand },
  { words: 'check', load: async () => (await import('./check.ts')).CheckCommand },
  { words: 'parse', load: async () => (await import('./parse.ts')).ParseCommand },
  { words: 'fmt', load: async () => (await import('./fmt.ts')).FmtCommand },
  { words: 'run', load: async () => (await import('./run.ts')).RunCommand },
  { words: 'simulate', load: async () => (await import('./simulate.ts')).SimulateCommand },
  { words: 'test', load: async () => (await import('./test.ts')).TestCommand },
  { words: 'explain', load: async () => (await import('./explain.ts')).ExplainCommand },
  { words: 'interactive', load: async () => (await import('./interactive.ts')).InteractiveCommand },
  { words: 'repl', load: async () => (await import('./repl.ts')).ReplCommand },
  { words: 'demo', load: async () => (await import('./demo.ts')).DemoCommand },
  { words: 'generate', load: async () => (await import('./generate.ts')).GenerateCommand },
  { words: 'infer', load: async () => (await import('./infer.ts')).InferCommand },
  { words: 'completion', load: async () => (await import('./completion.ts')).CompletionCommand, readsAll: true },
  { words: 'server', load: async () => (await import('./server.ts')).ServerCommand },
  { words: 'deploy', load: async () => (await import('./deploy.ts')).DeployCommand },
  { words: 'pipelines', load: async () => (await import('./pipelines.ts')).PipelinesCommand },
  { words: 'pipeline', load: async () => (await import('./pipeline.ts')).PipelineCommand },
  { words: 'undeploy', load: async () => (await import('./undeploy.ts')).UndeployCommand },
  { words: 'reload', load: async () => (await import('./reload.ts')).ReloadCommand },
  { words: 'stop', load: async () => (await import('./stop.ts')).StopCommand },
  { words: 'start', load: async () => (await import('./start.ts')).StartCommand },
  { words: 'checkpoint', load: async () => (await import('./checkpoint.ts')).CheckpointCommand },
  { words: 'restore', load: async () => (await import('./restore.ts')).RestoreCommand },
  { words: 'backup', load: async () => (await import('./backup.ts')).BackupCommand },
  { words: 'inject', load: async () => (await import('./inject.ts')).InjectCommand },
  { words: 'logs', load: async () => (await import('./logs.ts')).LogsCommand },
  { words: 'tap', load: async () => (await import('./tap.ts')).TapCommand },
  { words: 'dlq list', load: async () => (await import('./dlq-list.ts')).DlqListCommand },
  { words: 'dlq replay', load: async () => (await import('./dlq-replay.ts')).DlqReplayCommand },
  { words: 'dlq clear', load: async () => (await import('./dlq-clear.ts')).DlqClearCommand },
  { words: 'tenants', load: async () => (await import('./tenants.ts')).TenantsCommand },
  { words: 'tenant create', load: async () => (await import('./tenant-create.ts')).TenantCreateCommand },
  { words: 'tenant delete', load: async () => (await import('./tenant-delete.ts')).TenantDeleteCommand },
  { words: 'usage', load: async () => (await import('./usage.ts')).UsageCommand },
  { words: 'top', load: async () => (await import('./top.ts')).TopCommand },
  { words: 'status', load: async () => (await import('./status.ts')).StatusCommand },
  { words: 'coordinator', load: async () => (await import('./coordinator.ts')).CoordinatorCommand },
  { words: 'raft status', load: async () => (await import('./raft-status.ts')).RaftStatusCommand },
  { words: 'raft add', load: async () => (await import('./raft-add.ts')).RaftAddCommand },
  { words: 'raft promote', load: async () => (await import('./raft-promote.ts')).RaftPromoteCommand },
  { words: 'raft remove', load: async () => (await import('./raft-remove.ts')).RaftRemoveCommand },
  { words: 'raft transfer', load: async () => (await import('./raft-transfer.ts')).RaftTransferCommand },
  { words: 'connector list', load: async () => (await import('./connector-list.ts')).ConnectorListCommand },
  { words: 'connector info', load: async () => (await import('./connector-info.ts')).ConnectorInfoCommand },
  { words: 'connector test', load: async () => (await import('./connector-test.ts')).ConnectorTestCommand },
  { words: 'credentials keygen', load: async () => (await import('./credentials-keygen.ts')).CredentialsKeygenCommand },
  { words: 'credentials encrypt', load: async () => (await import('./credentials-encrypt.ts')).CredentialsEncryptCommand },
  { words: 'credentials rotate', load: async () => (await import('./credentials-rotate.ts')).CredentialsRotateCommand },
  { words: 'config show', load: async () => (await import('./config-show.ts')).ConfigShowCommand },
  { words: 'config-gen', load: async () => (await import('./config-gen.ts')).ConfigGenCommand },
];
