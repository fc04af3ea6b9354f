import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { AnswerNotes, incompleteLines } from './client/answer-notes.ts';
import { ClusterApi, type GroupEntry, type GroupInjectAnswer } from './client/cluster-api.ts';
import { ClusterCommand } from './client/cluster-command.ts';
import { fileBatches, isEventText, lastOffset, problemOf } from './client/event-batches.ts';
import { groupSchemas } from './client/group-schemas.ts';
import type { ServerApi } from './client/server-api.ts';
import { WholeAnswer } from './client/whole-answer.ts';
import { counted, thousands } from './counts.ts';
import { EVENT_FILES, eventSource, eventTypeOption, formatOption } from './event-files/event-options.ts';
import { isReadTwice, requireFiles, sourceName } from './event-files/event-source.ts';
import { noteLines } from './explaining/input-notes.ts';
import { EventProblems } from './simulation/event-problems.ts';

/** Events of a file in a request. */
const BATCH_EVENTS = 1_000;

export class GroupsInjectCommand extends ClusterCommand {
  static override paths = [['groups', 'inject']];
  static override usage = Command.Usage({
    category: 'Cluster',
    description: 'Send events to the entry pipelines of a group',
    details:
      'GROUP is an id or a name. Its routes from _external say which pipelines get an event; --pipeline names one instead. The events of a ' +
      'file are sent in order, in batches; a batch that is lost on the way is sent again and counts once. The offsets of an .evt file are ' +
      'placed so that its last event has the time at which the command begins; with --from-now they count from that time on. Ends with 1 ' +
      'when an event was refused or could not be read.',
    examples: [
      ['One event', `$0 groups inject fraud --event 'Login { user: "ann" }'`],
      ['A file', '$0 groups inject fraud --file events.evt'],
    ],
  });

  events = Option.Array('-e,--event', [], { description: 'An event, as a line of an event file; can be given several times' });
  file = Option.String('-f,--file', { description: EVENT_FILES.replace(/; several .*/, '') });
  eventType = eventTypeOption();
  format = formatOption();
  timeField = Option.String('--time-field', { description: 'Field that says when an event happened, before anything else does' });
  fromNow = Option.Boolean('--from-now', false, {
    description: 'Count the offsets of an .evt file from now on: time goes ahead with them, and what arrives meanwhile is late',
  });
  pipeline = Option.String('--pipeline', { description: 'The pipeline that gets them, whatever the routes say' });
  group = Option.String({ name: 'GROUP', required: true });

  protected override async ask(api: ServerApi): Promise<number> {
    this.#requireOneSource();
    const cluster = new ClusterApi(api.http);
    const group = await cluster.group(this.group);
    if (this.file !== undefined) return await this.#sendFile(cluster, group, this.file);
    const answer = await cluster.inject(group.id, `${this.events.join('\n')}\n`, this.pipeline);
    const notes = new AnswerNotes();
    notes.add(answer);
    this.#tell(notes);
    this.#show(answer, 0);
    if (!this.json) for (const { index, error } of answer.errors) this.note(`event ${index + 1}: ${error}`);
    return answer.rejected === 0 ? 0 : 1;
  }

  async #sendFile(cluster: ClusterApi, group: GroupEntry, file: string): Promise<number> {
    const problems = new EventProblems(sourceName(file), (text) => this.note(text));
    const source = { ...eventSource(this), stdin: this.context.stdin };
    const schemas = groupSchemas(group, this.pipeline);
    const startedAtMs = Date.now() - (await this.#length(file, { source, schemas }));
    const notes = new AnswerNotes();
    const batches = fileBatches(file, {
      ...{ source, schemas, timeField: this.timeField, problems, startedAtMs, eventsMax: BATCH_EVENTS, pace: undefined },
      untimed: () => undefined,
      unknown: (members) => notes.addUnknown(members),
    });
    const whole = new WholeAnswer();
    for await (const batch of batches) {
      const answer = await cluster.inject(group.id, batch.text, this.pipeline).catch((error: unknown) => {
        this.note(`events from ${sourceName(file)}:${batch.events[0]?.line ?? 1} on were not confirmed`);
        throw error;
      });
      whole.add(answer, batch.events.length);
      notes.add(answer);
      for (const { index, code, error } of answer.errors) problems.addInvalid(problemOf(batch, index, code, error));
    }
    const wrong = problems.invalid + problems.unreadable;
    this.#tell(notes);
    const { unknownMembers: unknown = [] } = notes.input;
    const told = { ...notes.members, ...(unknown.length > 0 && { unknown_members: [...unknown] }) };
    this.#show({ ...whole.answer, ...told }, wrong - whole.answer.errors.length);
    return wrong === 0 ? 0 : 1;
  }

  #tell(notes: AnswerNotes): void {
    if (!this.json) for (const line of [...noteLines(notes.input), ...incompleteLines(notes)]) this.print(`${line}\n`);
  }

  /** How far back the offsets of a file begin, so that its last event has the time of now; ms. */
  async #length(file: string, reading: Parameters<typeof lastOffset>[1]): Promise<number> {
    if (this.fromNow) return 0;
    if (isReadTwice(file)) return await lastOffset(file, reading);
    this.note(`the offsets of '${sourceName(file)}' count from now on: it can be read only once`);
    return 0;
  }

  /** `unread`: lines that hold no event, and were not sent. */
  #show(answer: GroupInjectAnswer, unread: number): void {
    if (this.json) {
      this.printJson({ ...answer, rejected: answer.rejected + unread });
      return;
    }
    const alerts = counted((answer.output_events?.length ?? 0) + (answer.outputs_omitted ?? 0), 'alert');
    const to = answer.routed_to.length === 0 ? '' : `, sent to ${answer.routed_to.join(', ')}`;
    this.print(`${thousands(answer.accepted)} accepted, ${thousands(answer.rejected + unread)} refused, ${alerts}${to}\n`);
  }

  #requireOneSource(): void {
    if ((this.file === undefined) === (this.events.length === 0))
      throw new CepError('usage_error', 'expected events, from --event or from --file', { hint: 'one of the two' });
    const other = this.events.find((text) => !isEventText(text));
    if (other !== undefined)
      throw new CepError('usage_error', `--event: expected an event such as Login { user: "ann" }, found '${other}'`, {
        hint: `an event file is named by -f: -f ${other}`,
      });
    if (this.file !== undefined) requireFiles([this.file]);
  }
}
