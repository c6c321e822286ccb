import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { HostOrder, HostSettings, ShownCode } from './host.js';
import type { Memory } from './memory.js';

const HOST = fileURLToPath(new URL('./host.js', import.meta.url));

/** A host in a process of its own. */
export class HostProcess {
  private readonly child: ChildProcess;

  /** @param scan is called with each code that the host shows */
  constructor(settings: HostSettings, scan: (code: ShownCode) => void) {
    this.child = fork(HOST, [JSON.stringify(settings)], {
      execArgv: ['--expose-gc'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    this.child.on('message', (message: ShownCode | Memory) => {
      if ('qr' in message) scan(message);
    });
  }

  /**
   * Sends an order. Resolves with the memory of the host after it has carried out the order.
   * @throws Error if the host ends instead
   */
  async ask(order: HostOrder): Promise<Memory> {
    this.child.send(order);
    return new Promise<Memory>((resolve, reject) => {
      const gone = () => reject(new Error(`The host ended at ${order.kind}.`));
      this.child.once('exit', gone);
      const take = (message: ShownCode | Memory) => {
        if ('qr' in message) return;
        this.child.off('message', take).off('exit', gone);
        resolve(message);
      };
      this.child.on('message', take);
    });
  }

  /** Closes the service and ends the process. */
  async stop(): Promise<void> {
    await this.ask({ kind: 'close' });
    const exit = once(this.child, 'exit');
    this.child.disconnect();
    await exit;
  }
}
