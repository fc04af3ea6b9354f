import { CepError } from '../../shared/errors/error.ts';
import type { ConnectorType } from './connector.ts';
import { AppendedFile } from './file/appended-file.ts';
import { fileStep } from './file/file-test.ts';
import { FollowedFile } from './file/followed-file.ts';
import { flagParameter, textParameter } from './parameters.ts';

/** Files of events: read and followed, or appended to. */
export const fileConnector: ConnectorType = {
  name: 'file',
  openSource: ({ name, topic, parameters, textFields }, { filePath = noFile }) => {
    const path = topic === null ? undefined : filePath(topic);
    if (path === undefined) throw outside(name, topic ?? '');
    return new FollowedFile({
      path,
      timeField: textParameter(parameters, 'time_field'),
      textFields: new Set(textFields),
      follows: !parameters.has('follow') || flagParameter(parameters, 'follow'),
      start: textParameter(parameters, 'start') === 'latest' ? 'latest' : 'earliest',
    });
  },
  openSink: ({ name, parameters }, { filePath = noFile }) => {
    const path = textParameter(parameters, 'path') ?? textParameter(parameters, 'topic') ?? null;
    if (path !== null && filePath(path) === undefined) throw outside(name, path);
    return new AppendedFile({ path, filePath });
  },
  async *test({ name, role, topic }, { filePath = noFile }) {
    const path = topic === null ? undefined : filePath(topic);
    if (topic === null) yield { name: 'file', untested: 'the path is not named, or made of each event' };
    else if (path === undefined) throw outside(name, topic);
    else yield fileStep(role, path, topic);
  },
};

function noFile(): undefined {
  return undefined;
}

function outside(connector: string, path: string): CepError {
  return new CepError('connector_error', `connector '${connector}': the file '${path}' is not in the work directory`, {
    hint: 'name a file in a folder that exists in the work directory (--workdir)',
  });
}
