import { CepError } from '../../shared/errors/error.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import type { ConnectorType } from './connector.ts';
import { AppendedFile } from './file/appended-file.ts';
import { fileStep } from './file/file-test.ts';
import { FollowedFile } from './file/followed-file.ts';
import { flagParameter, textParameter } from './parameters.ts';

/** Files of events: read and followed, or appended to. */
export const fileConnector: ConnectorType = {
  name: 'file',
  openSource: ({ name, topic, parameters, events, messagesMax }, { filePath = noFile }) => {
    const path = placeOf(name, topic ?? '', filePath);
    const start = textParameter(parameters, 'start') === 'latest' ? 'latest' : 'earliest';
    if (start === 'latest' && path.endsWith('.gz')) throw nothingBehind(name, topic ?? '');
    return new FollowedFile({
      path,
      timeField: textParameter(parameters, 'time_field'),
      schemas: new EventSchemas(events?.declarations ?? []),
      otherType: textParameter(parameters, 'event_type') ?? events?.type,
      follows: !parameters.has('follow') || flagParameter(parameters, 'follow'),
      start,
      messagesMax,
    });
  },
  openSink: ({ name, parameters }, { filePath = noFile }) => {
    const path = textParameter(parameters, 'path') ?? textParameter(parameters, 'topic') ?? null;
    if (path !== null) placeOf(name, path, filePath);
    return new AppendedFile({ path, filePath });
  },
  requireTopic: ({ name }, topic, { filePath = noFile }) => void placeOf(name, topic, filePath),
  async *test({ name, role, topic }, { filePath = noFile }) {
    if (topic === null) yield { name: 'file', untested: 'the path is not named, or made of each event' };
    else yield fileStep(role, placeOf(name, topic, filePath), topic);
  },
};

function noFile(): undefined {
  return undefined;
}

/** What is compressed is read as a whole, and nothing is appended to it. */
function nothingBehind(connector: string, path: string): CepError {
  return new CepError(
    'validation_error',
    `connector '${connector}': found start: "latest" of the compressed file '${path}', expected "earliest": nothing comes behind its end`,
    { hint: 'leave `start` out, or follow the file that is not compressed yet' },
  );
}

/** @throws CepError `validation_error` */
function placeOf(connector: string, path: string, filePath: (path: string) => string | undefined): string {
  if (path.includes('\0')) {
    throw new CepError(
      'validation_error',
      `connector '${connector}': found a path with a NUL character, expected one that a file can have`,
    );
  }
  const place = filePath(path);
  if (place !== undefined) return place;
  throw new CepError('validation_error', `connector '${connector}': the file '${path}' is not in the work directory`, {
    hint: 'name a file in a folder that exists in the work directory (--workdir)',
  });
}
