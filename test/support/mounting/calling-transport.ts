import { StorageUnavailableError } from '../../../src/common/errors.js';
import { SandboxSmsTransport } from '../../../src/sandbox/sandbox-sms-transport.js';
import type { CallbackAnswer, CarrierCallback } from '../../../src/sms/sms-transport.js';

/** The sandbox with a carrier named `carrier` that calls. The contents of a call decide how it ends. */
export class CallingSandbox extends SandboxSmsTransport {
  override readonly callbacks = new Map([
    [
      'carrier',
      ({ headers, body }: Pick<CarrierCallback, 'headers' | 'body'>) =>
        endOf(headers['x-words'] ?? Buffer.from(body).toString()),
    ],
  ]);
}

async function endOf(said: string): Promise<CallbackAnswer> {
  if (said === 'away') throw new StorageUnavailableError('no connection');
  if (said === 'fault') throw new Error('a fault');
  if (said === 'slow') await new Promise(() => undefined);
  return { status: Number(said) };
}
