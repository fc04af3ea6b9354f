import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type * as mutated from './mutated.ts';

/** A mistake that Raft implementations have made, as changes of text: it shows that the simulator sees such mistakes. */
export interface Mutant {
  readonly name: string;
  readonly changes: readonly {
    /** In `coordinator/raft`. */
    readonly file: string;
    /** Stands there once. */
    readonly find: string;
    readonly replacement: string;
  }[];
}

/** Mistakes that other implementations had, most of them in released versions. */
const known: readonly Mutant[] = [
  {
    name: 'two votes in a term',
    changes: [{ file: 'core/election.ts', find: 'state.vote === from || (state.vote === 0 && state.leader === 0)', replacement: 'true' }],
  },
  {
    name: 'vote without comparing logs',
    changes: [{ file: 'core/election.ts', find: ' && state.log.isUpToDate(lastIndex, lastTerm)', replacement: '' }],
  },
  {
    name: 'entries of older terms committed by count',
    changes: [{ file: 'core/leadership.ts', find: ' || state.log.termAt(found) !== state.term', replacement: '' }],
  },
  {
    name: 'acknowledgement before sync',
    changes: [
      {
        file: 'core/raft.ts',
        find: "this.#state.promise({ type: 'appendResponse', to, accepted: true, index, hintIndex: 0, hintTerm: 0, isRecovering: false });",
        replacement:
          "this.#state.send({ type: 'appendResponse', to, accepted: true, index, hintIndex: 0, hintTerm: 0, isRecovering: false });",
      },
    ],
  },
  {
    name: 'own entries counted before sync',
    changes: [
      {
        file: 'core/leadership.ts',
        find: '    this.#state.append(data.map((bytes, at) => ({ index: log.lastIndex + 1 + at, term, kind, data: bytes })));\n',
        replacement:
          '    this.#state.append(data.map((bytes, at) => ({ index: log.lastIndex + 1 + at, term, kind, data: bytes })));\n    this.#progress.get(this.#state.id)?.acknowledged(log.lastIndex);\n',
      },
    ],
  },
  {
    name: 'completion without term',
    changes: [
      {
        file: 'core/leadership.ts',
        find: 'if (this.#state.log.termAt(through) !== term) return;',
        replacement: 'if (through > this.#state.log.lastIndex) return;',
      },
    ],
  },
  {
    name: 'log cut off by a late message',
    changes: [
      {
        file: 'core/log.ts',
        find: 'if (at < 0) return [];',
        replacement:
          'if (at < 0) { const end = entries.at(-1); if (end && end.index < this.lastIndex && end.index >= this.#commit) this.#truncateFrom(end.index + 1); return []; }',
      },
    ],
  },
  {
    name: 'answers to an old term believed',
    changes: [
      {
        file: 'core/raft.ts',
        find: 'if (message.term < state.term) return this.#answerOldTerm(message);',
        replacement: "if (message.term < state.term && message.type !== 'appendResponse') return this.#answerOldTerm(message);",
      },
    ],
  },
  {
    name: 'commit beyond what is known to agree',
    changes: [
      { file: 'core/raft.ts', find: 'Math.min(commit, last))', replacement: 'Math.min(commit, log.lastIndex))' },
      {
        file: 'core/leadership.ts',
        find: 'const commit = Math.min(this.#progressOf(to).match, this.#state.log.commit);',
        replacement: 'const commit = this.#progressOf(to).match < 0 ? 0 : this.#state.log.commit;',
      },
    ],
  },
  {
    name: 'vote not written',
    changes: [{ file: 'core/state.ts', find: ' || this.vote !== this.#written.vote', replacement: '' }],
  },
  {
    name: 'question before an election raises the term',
    changes: [
      {
        file: 'core/raft.ts',
        find: '      if (message.pre) {\n        this.#election.requested(message);\n        return false;\n      }\n',
        replacement: '      if (message.pre) state.becomeFollower(message.term, 0);\n      if (message.pre) return true;\n',
      },
    ],
  },
  {
    name: 'read without a round of heartbeats',
    changes: [{ file: 'core/leadership.ts', find: 'id === own || (this.#progress.get(id)?.round ?? 0) >= round', replacement: 'true' }],
  },
  {
    name: 'read before the no-op is committed',
    changes: [
      {
        file: 'core/leadership.ts',
        find: "if (!this.#isReady()) return state.refuse(id, 'notReady');\n    if (this.#reads",
        replacement: 'if (this.#reads',
      },
    ],
  },
  {
    name: 'change of configuration before the no-op is committed',
    changes: [
      {
        file: 'core/leadership.ts',
        find: "    if (!this.#isReady()) return state.refuse(id, 'notReady');\n    if (this.#changeIndex > state.log.commit || isJoint(state.configuration))",
        replacement: '    if (this.#changeIndex > Math.max(state.log.commit, this.#firstIndex - 1) || isJoint(state.configuration))',
      },
    ],
  },
  {
    name: 'two pending changes of configuration',
    changes: [
      {
        file: 'core/leadership.ts',
        find: 'if (this.#changeIndex > state.log.commit || isJoint(state.configuration))',
        replacement: 'if (isJoint(state.configuration))',
      },
    ],
  },
  {
    name: 'learners counted in majorities',
    changes: [
      {
        file: 'core/configuration.ts',
        find: 'return isMajority(voters, has) && ',
        replacement: 'return isMajority([...voters, ...learners], has) && ',
      },
      {
        file: 'core/configuration.ts',
        find: 'export function isQuorum({ voters, outgoing }',
        replacement: 'export function isQuorum({ voters, outgoing, learners }',
      },
      {
        file: 'core/configuration.ts',
        find: 'const first = majorityIndex(voters, matchOf);',
        replacement: 'const first = majorityIndex([...voters, ...learners], matchOf);',
      },
      {
        file: 'core/configuration.ts',
        find: 'export function quorumIndex({ voters, outgoing }',
        replacement: 'export function quorumIndex({ voters, outgoing, learners }',
      },
    ],
  },
  {
    name: 'snapshot installed before entries that conflict with it',
    changes: [
      {
        file: 'core/log.ts',
        find: '    this.#baseTerm = term;\n    this.#entries = [];\n    this.#commit = index;',
        replacement:
          '    this.#baseTerm = term;\n    this.#entries = this.#entries.filter((entry) => entry.index > index);\n    this.#commit = index;',
      },
    ],
  },
  {
    name: 'parts of a snapshot not compared by offset, nor by sum',
    changes: [
      { file: 'storage/snapshot-transfer.ts', find: ' || offset !== this.#received)', replacement: ')' },
      {
        file: 'storage/snapshot-transfer.ts',
        find: 'const isRight = this.#checksum === manifest.checksum;',
        replacement: 'const isRight = true;',
      },
    ],
  },
  {
    name: 'entries removed before the pointer to the snapshot is written',
    changes: [
      {
        file: 'storage/log-storage.ts',
        find: 'return { pointer, drop: { operations: this.#dropThrough(index - keep), witness: undefined } };',
        replacement: 'return { pointer: { operations: this.#dropThrough(index - keep), witness: undefined }, drop: pointer };',
      },
    ],
  },
  {
    name: 'sessions not in snapshots',
    changes: [
      {
        file: 'sessions/session-table.ts',
        find: 'return [...this.#sessions].map(',
        replacement: 'return [...this.#sessions].slice(0, 0).map(',
      },
    ],
  },
  {
    name: 'configuration not in snapshots',
    changes: [
      {
        file: 'core/state.ts',
        find: '    this.#configurations = new ConfigurationHistory(meta);\n',
        replacement: '    this.#configurations = new ConfigurationHistory({ ...meta, configuration: this.configuration });\n',
      },
    ],
  },
  {
    name: 'quorum one too small',
    changes: [
      { file: 'core/configuration.ts', find: '.length > Math.floor(ids.length / 2)', replacement: '.length >= Math.floor(ids.length / 2)' },
    ],
  },
  {
    name: 'logs compared by length before term',
    changes: [
      {
        file: 'core/log.ts',
        find: 'return lastTerm > this.lastTerm || (lastTerm === this.lastTerm && lastIndex >= this.lastIndex);',
        replacement: 'return lastIndex >= this.lastIndex;',
      },
    ],
  },
  {
    name: 'next entry before what is known to match',
    changes: [
      { file: 'core/progress.ts', find: 'if (refused <= this.match || (this.state', replacement: 'if ((this.state' },
      {
        file: 'core/progress.ts',
        find: 'Math.max(this.match + 1, Math.min(refused, hint + 1))',
        replacement: 'Math.max(1, Math.min(refused, hint + 1))',
      },
    ],
  },
  {
    name: 'restarted follower never asks for an election',
    changes: [
      {
        file: 'core/state.ts',
        find: '    this.electionTimeout = this.options.electionTicks + this.options.random(this.options.electionTicks);',
        replacement:
          '    this.electionTimeout = (this.term > 0 && this.#seq === 0 ? 10_000 : 1) * (this.options.electionTicks + this.options.random(this.options.electionTicks));',
      },
    ],
  },
  {
    name: 'removed leader goes on',
    changes: [{ file: 'core/leadership.ts', find: 'if (isRemoved) state.becomeFollower(state.term, 0);', replacement: '' }],
  },
  {
    name: 'recovering node votes',
    changes: [{ file: 'core/state.ts', find: 'return this.recovering === undefined;', replacement: 'return true;' }],
  },
  {
    name: 'checksums ignored',
    changes: [
      {
        file: 'storage/record.ts',
        find: 'if (crc32c(sealed.subarray(0, length), before) !== this.#view.getUint32(length))',
        replacement: 'if (length > 1e9)',
      },
    ],
  },
  {
    name: 'gaps in the log ignored',
    changes: [
      {
        file: 'storage/open-log.ts',
        find: '    if (value === undefined) return { entries, points };',
        replacement:
          '    if (value === undefined && !records.has(keys.entry(index + 1))) return { entries, points };\n    if (value === undefined) continue;',
      },
      {
        file: 'storage/codec.ts',
        find: 'return crc32c(indexBytes, before);',
        replacement: 'return crc32c(indexBytes, 0 * before);',
      },
    ],
  },
  {
    name: 'witness ignored',
    changes: [
      {
        file: 'storage/open-log.ts',
        find: 'const isCurrent = written !== undefined && written.seq >= witness.seq;',
        replacement: 'const isCurrent = written !== undefined;',
      },
    ],
  },
  {
    name: 'repeated commands done again',
    changes: [
      { file: 'sessions/session-table.ts', find: "if (before !== undefined) return { kind: 'done', result: before };", replacement: '' },
    ],
  },
];

/** Further ones, some of them of this implementation, found by the simulator. */
const further: readonly Mutant[] = [
  {
    name: 'votes asked for and own vote counted before it is written',
    changes: [
      { file: 'core/election.ts', find: 'seq < this.#ownVoteSeq', replacement: 'false' },
      {
        file: 'core/election.ts',
        find: '    this.#ask(false, transfer);\n    return false;',
        replacement: '    this.#ask(false, transfer);\n    return this.stored(this.#ownVoteSeq);',
      },
      {
        file: 'core/election.ts',
        find: 'this.#state.promise({ ...request, to, term: pre ? term + 1 : term });',
        replacement: 'this.#state.send({ ...request, to, term: pre ? term + 1 : term });',
      },
    ],
  },
  {
    name: 'term of the log not compared',
    changes: [{ file: 'core/raft.ts', find: 'log.termAt(previousIndex) === previousTerm', replacement: 'previousIndex <= log.lastIndex' }],
  },
  {
    name: 'joint elections by the new majority only',
    changes: [{ file: 'core/configuration.ts', find: ' && (outgoing.length === 0 || isMajority(outgoing, has))', replacement: '' }],
  },
  {
    name: 'joint commit by the new majority only',
    changes: [
      {
        file: 'core/configuration.ts',
        find: 'return outgoing.length === 0 ? first : Math.min(first, majorityIndex(outgoing, matchOf));',
        replacement: 'return first;',
      },
    ],
  },
  {
    name: 'commit by one too few',
    changes: [
      {
        file: 'core/configuration.ts',
        find: 'matches[Math.floor(ids.length / 2)]',
        replacement: 'matches[Math.max(0, Math.floor(ids.length / 2) - 1)]',
      },
    ],
  },
  {
    name: 'a refusal moves nothing back',
    changes: [{ file: 'core/progress.ts', find: 'Math.min(refused, hint + 1)', replacement: 'refused + 1' }],
  },
  {
    name: 'lost entries never asked for again',
    changes: [
      {
        file: 'core/leadership.ts',
        find: "progress.matchAtHeartbeat === progress.match) progress.become('probe')",
        replacement: "progress.match < 0) progress.become('probe')",
      },
    ],
  },
  {
    name: 'joint consensus never left',
    changes: [
      {
        file: 'core/leadership.ts',
        find: 'if (isJoint(this.#state.configuration) && this.#changeIndex <= this.#state.log.commit)',
        replacement: 'if (this.#changeIndex < 0)',
      },
    ],
  },
  {
    name: 'a change that is removed stays in force',
    changes: [{ file: 'core/state.ts', find: '    this.#configurations.truncatedFrom(first.index);\n', replacement: '' }],
  },
  {
    name: 'recovering node believes heartbeats',
    changes: [{ file: 'core/raft.ts', find: 'if (canVote && commit > log.commit)', replacement: 'if (commit > log.commit)' }],
  },
  {
    name: 'leader insists on what a recovering node has lost',
    changes: [
      {
        file: 'core/leadership.ts',
        find: 'if (isRecovering) progress.lost(hint, index === hintIndex && log.termAt(index) === hintTerm);\n      else progress',
        replacement: 'progress',
      },
    ],
  },
  {
    name: 'repair writes the database first',
    changes: [
      {
        file: 'storage/open-log.ts',
        find: 'if (recovering === undefined) return [{ operations, witness }];',
        replacement: 'if (seq > 0) return [{ operations, witness }];',
      },
    ],
  },
  {
    name: 'repair writes the witness first without a loss',
    changes: [
      {
        file: 'storage/open-log.ts',
        find: 'if (recovering === undefined) return [{ operations, witness }];',
        replacement: 'if (seq < 0) return [{ operations, witness }];',
      },
    ],
  },
  {
    name: 'witness beside a batch that it does not hold',
    changes: [
      {
        file: 'storage/witness.ts',
        find: 'return { bytes: writer.sealed(), hasBatch };',
        replacement: 'return { bytes: writer.sealed(), hasBatch: true };',
      },
    ],
  },
  {
    name: 'second copy of a witness ignored',
    changes: [
      { file: 'storage/witness.ts', find: 'let at = copyAlign; at < slot.length;', replacement: 'let at = slot.length; at < slot.length;' },
    ],
  },
  {
    name: 'witness without what only the one before it has',
    changes: [
      {
        file: 'storage/write-ahead.ts',
        find: 'this.#operations.length === 0 ? operations',
        replacement: 'this.#operations.length >= 0 ? operations',
      },
    ],
  },
  {
    name: 'what came while the database was written forgotten',
    changes: [
      { file: 'storage/write-ahead.ts', find: 'this.#operations.slice(count)', replacement: 'this.#operations.slice(0, 0 * count)' },
    ],
  },
  {
    name: 'batch of the witness left out',
    changes: [
      {
        file: 'storage/open-log.ts',
        find: 'withOperations(disk.records, batch)',
        replacement: 'withOperations(disk.records, batch.slice(batch.length))',
      },
    ],
  },
  {
    name: 'what the witness adds not written back',
    changes: [
      {
        file: 'storage/open-log.ts',
        find: 'if (kept.has(key) && records.get(key) !== value)',
        replacement: 'if (kept.has(key) && records.size < 0)',
      },
    ],
  },
  {
    name: 'loss forgotten by another crash',
    changes: [
      {
        file: 'storage/open-log.ts',
        find: 'later(witness.recovering, keepsPromise ? undefined : witness.last)',
        replacement: 'keepsPromise ? undefined : witness.last',
      },
    ],
  },
  {
    name: 'entries in the place of others acknowledged before sync',
    changes: [
      {
        file: 'core/raft.ts',
        find: '    this.#state.merge(entries);\n    const last = previousIndex + entries.length;\n',
        replacement:
          "    const end = log.lastIndex;\n    this.#state.merge(entries);\n    const last = previousIndex + entries.length;\n    if (last <= end) this.#state.send({ type: 'appendResponse', to: from, accepted: true, index: last, hintIndex: 0, hintTerm: 0, isRecovering: false });\n",
      },
    ],
  },
  {
    name: 'entries behind a snapshot of its own forgotten in silence',
    changes: [
      {
        file: 'storage/open-log.ts',
        find: 'snapshot.isLost ? { entries: [], points: [] }',
        replacement: 'snapshot.isLost || snapshot.manifest.index > 0 ? { entries: [], points: [] }',
      },
      {
        file: 'storage/open-log.ts',
        find: 'isCurrent && isSame(end, written.last);',
        replacement: 'isCurrent && (snapshot.manifest.index > 0 || isSame(end, written.last));',
      },
    ],
  },
  {
    name: 'snapshot of an old leader waited for',
    changes: [{ file: 'storage/snapshot-transfer.ts', find: 'const isLater = term > this.#term || ', replacement: 'const isLater = ' }],
  },
];

export const mutants: readonly Mutant[] = [...known, ...further];

const entry = fileURLToPath(new URL('./mutated.ts', import.meta.url));
const folder = fileURLToPath(new URL('../../coordinator/raft/', import.meta.url));

/** The simulator with the mutant in it. Throws when a text to change is not there once: then the mutant has to follow the code. */
export async function simulatorOf({ name, changes }: Mutant): Promise<typeof mutated> {
  for (const { file, find } of changes) {
    const found = (await readFile(`${folder}${file}`, 'utf8')).split(find).length - 1;
    if (found !== 1) throw new Error(`mutant '${name}': ${file} has its text ${found} times, not once`);
  }
  const bundle = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    plugins: [
      {
        name: 'mutant',
        setup({ onLoad }): void {
          onLoad({ filter: /coordinator[\\/]raft[\\/].+\.ts$/ }, async ({ path }) => {
            const here = changes.filter(({ file }) => path.endsWith(`/${file}`));
            const text = await readFile(path, 'utf8');
            const contents = here.reduce((changed, { find, replacement }) => changed.replace(find, () => replacement), text);
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  const text = bundle.outputFiles[0]?.text ?? '';
  return (await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`)) as typeof mutated;
}
