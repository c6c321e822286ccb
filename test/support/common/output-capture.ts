import { inspect } from 'node:util';

const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'] as const;

/** Records everything that is printed, on the console and past it, until `stop`. */
export class OutputCapture {
  private readonly parts: string[] = [];
  private readonly restores: (() => void)[] = [];

  constructor() {
    for (const method of METHODS) {
      const original = console[method];
      console[method] = (...args: unknown[]) => void this.parts.push(args.map(shown).join(' '));
      this.restores.push(() => {
        console[method] = original;
      });
    }
    for (const stream of [process.stdout, process.stderr]) {
      const original = stream.write;
      stream.write = (chunk: string | Uint8Array) => {
        this.parts.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
        return true;
      };
      this.restores.push(() => {
        stream.write = original;
      });
    }
  }

  /** All that was printed. */
  stop(): string {
    for (const restore of this.restores.splice(0)) restore();
    return this.parts.join('\n');
  }
}

/** Includes everything that an object holds, with bytes in base64 as well as in the inspector's format. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  const bytes = JSON.stringify(value, (_, inner) =>
    inner?.type === 'Buffer' ? Buffer.from(inner.data).toString('base64') : inner,
  );
  return `${inspect(value, { depth: null, maxArrayLength: null })} ${bytes}`;
}
