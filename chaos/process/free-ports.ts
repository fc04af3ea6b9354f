import { createServer } from 'node:net';

/** Ports that nobody has now, each with the one 1000 above it, where members talk to each other. */
export async function freePortPairs(count: number): Promise<number[]> {
  const found: number[] = [];
  for (let port = 21_500 + (process.pid % 300) * 40; found.length < count && port < 60_000; port++) {
    if ((await isFree(port)) && (await isFree(port + 1_000))) found.push(port);
  }
  return found;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}
