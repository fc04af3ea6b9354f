import Type from 'typebox';
import { FIRST_FORMAT } from '../format.ts';
import { changed, command } from './outcome.ts';

const RAISED_SINCE = 2;

export const formatCommands = {
  /** From here on the group writes a format that all of its members read. There is no way back: what was written stays. */
  RaiseFormat: command(
    Type.Object({ format: Type.Integer({ minimum: FIRST_FORMAT }) }, { additionalProperties: false }),
    (state, { format }) =>
      format <= state.format ? changed(state, null) : changed({ ...state, format }, null, { type: 'FormatRaised', id: String(format) }),
    RAISED_SINCE,
  ),
};
