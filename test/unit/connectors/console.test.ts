import { describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { openSink, settingsOf } from '../../../worker/connectors/registry.ts';

const door = new OutboundDoor(NetworkPolicy.everywhere);

async function shown(label: string, { topic, payload }: { readonly topic: string | null; readonly payload: string }): Promise<string> {
  const lines: string[] = [];
  const sink = openSink(settingsOf('Screen', 'console', [['topic', label]]), { console: (line) => void lines.push(line), door });
  await sink.send({ id: '1', topic, payload });
  await sink.close();
  return lines.join('\n');
}

/** Ends the line, and goes on with one that the server could have written. */
const forged = 'x\n2026-01-01T00:00:00.000Z INFO  Audit operation=deleteTenant\r\u001b[2K\u2028\u009b31m';
const one = String.raw`x\u{a}2026-01-01T00:00:00.000Z INFO  Audit operation=deleteTenant\u{d}\u{1b}[2K\u{2028}\u{9b}31m`;

describe('a message on the console', () => {
  it('is one line, whatever its label is', async () => {
    expect(await shown(forged, { topic: null, payload: '{}' })).toBe(`${one}: {}`);
    expect(await shown('large', { topic: forged, payload: '{}' })).toBe(`${one}: {}`);
    expect(await shown('large orders', { topic: null, payload: '{}' })).toBe('large orders: {}');
  });

  it('stays the JSON that it is, and does nothing to a terminal', async () => {
    const payload = JSON.stringify({ k: forged });
    const text = await shown('large', { topic: null, payload });
    expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(text.slice('large: '.length))).toEqual({ k: forged });
  });
});
