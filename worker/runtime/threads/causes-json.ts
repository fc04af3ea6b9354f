import { limits } from '../../../shared/limits.ts';
import type { Cause, Causes } from '../../engine/engine.ts';
import { fieldsJson } from './fields-json.ts';

/** JSON text of the events behind an output, as `alertCausesSchema` has them. Events that have no room are left out. */
export function causesJson({ kind, count, events }: Causes): string {
  let room = limits.alertCauseCharsMax;
  const texts = events.map(causeJson).filter((text) => {
    room -= text.length;
    return room >= 0;
  });
  return `{"kind":"${kind}","count":${count},"events":[${texts.join(',')}]}`;
}

function causeJson({ step, type, time, fields }: Cause): string {
  return `{"step":${JSON.stringify(step)},"event_type":${JSON.stringify(type)},"timestamp":${time},"data":${fieldsJson(fields)}}`;
}
