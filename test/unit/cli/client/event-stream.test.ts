import { describe, expect, it } from 'vitest';
import { EventStreamReader } from '../../../../cli/client/event-stream.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a reader of server-sent events', () => {
  const text = ':\n\nid: 7\ndata: {"a":"ä"}\n\nevent: gap\ndata: 1\ndata: 2\n\n:\n\n';
  const messages = [
    { event: 'message', id: '7', data: '{"a":"ä"}' },
    { event: 'gap', id: undefined, data: '1\n2' },
  ];

  it('gives each message with its name, id and lines, and nothing for comments', () => {
    expect(new EventStreamReader().write(bytes(text))).toEqual(messages);
  });

  it.each(['\n', '\r\n', '\r'])('reads the same however it is cut, with line ends %j', (lineEnd) => {
    const all = bytes(text.replaceAll('\n', lineEnd));
    for (let size = 1; size < all.length; size++) {
      const reader = new EventStreamReader();
      const seen = [];
      for (let at = 0; at < all.length; at += size) seen.push(...reader.write(all.subarray(at, at + size)));
      expect(seen).toEqual(messages);
    }
  });

  it('gives an id without data, which says where the stream stands', () => {
    expect(new EventStreamReader().write(bytes(':\n\nid: 7\n\n'))).toEqual([{ event: 'message', id: '7', data: undefined }]);
  });

  it('holds back a message that has not ended', () => {
    const reader = new EventStreamReader();
    expect(reader.write(bytes('data: 1\n'))).toEqual([]);
    expect(reader.write(bytes('\n'))).toEqual([{ event: 'message', id: undefined, data: '1' }]);
  });
});
