import { listens } from '../common/listens.js';

/**
 * Whether a suite can have its server. Without one it is skipped with a message; with `CI=true` it fails instead,
 * because a missing server is a mistake there.
 */
export async function hasServer(name: string, port: number): Promise<boolean> {
  if (await listens(port)) return true;
  if (process.env.CI === 'true') throw new Error(`${name} does not listen on 127.0.0.1:${port}.`);
  console.warn(`SKIPPED: ${name} does not listen on 127.0.0.1:${port}; its suite did not run.`);
  return false;
}
