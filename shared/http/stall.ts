import type { Socket } from 'node:net';

/** The connection below an encrypted one, whose bytes the system takes. Node gives it by no other name. */
interface Below {
  readonly _handle?: { readonly _parent?: { readonly writeQueueSize?: number } } | null;
}

/**
 * What is to be done when a socket has timed out with something waiting in it: its client is cut, unless it takes something. A socket
 * sees that itself, and does not time out; but one that is encrypted sees only that all of an answer has gone, however large it is.
 */
export function cutWhenStalled(socket: Socket, cut: () => void): () => void {
  let waiting = waitingBelow(socket);
  return () => {
    const before = waiting;
    waiting = waitingBelow(socket);
    if (waiting === before) cut();
    else socket.setTimeout(socket.timeout ?? 0);
  };
}

/** Bytes that the system has not taken; undefined where nothing is encrypted. */
function waitingBelow(socket: Socket): number | undefined {
  return (socket as Below)._handle?._parent?.writeQueueSize;
}
