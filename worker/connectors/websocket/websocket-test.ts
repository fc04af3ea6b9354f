import { reachSteps } from '../testing/reach.ts';
import { StepFailure, type TestStep } from '../testing/test-step.ts';
import { openWebSocket, type WebSocketAddress, webSocketReason } from './websocket-client.ts';

/** Opens the WebSocket and closes it again; nothing is sent, and what comes meanwhile is not kept. */
export async function* webSocketSteps(address: WebSocketAddress): AsyncGenerator<TestStep> {
  const { door, url } = address;
  const isSecure = url.protocol === 'wss:';
  yield* reachSteps({ door, host: url.hostname, port: Number(url.port) || (isSecure ? 443 : 80), tls: isSecure });
  yield {
    name: 'address',
    run: async () => {
      const { socket } = await openWebSocket(address).catch((cause: unknown) => {
        const hint = 'correct the path, or the login in the url or in `headers`; look whether a WebSocket server listens there';
        throw new StepFailure({ found: `'${webSocketReason(cause)}'`, expected: 'a handshake', hint, cause });
      });
      socket.terminate();
      return 'the server opens a WebSocket';
    },
  };
}
