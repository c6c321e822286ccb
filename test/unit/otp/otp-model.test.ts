import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { wrongFor } from '../../support/otp/otp-app.js';
import { OtpBench } from '../../support/otp/otp-bench.js';
import { OtpModel } from '../../support/otp/otp-model.js';

interface Real {
  readonly bench: OtpBench;
  readonly lastMessage: Map<string, string>;
}
type Command = fc.AsyncCommand<OtpModel, Real>;

class Send implements Command {
  constructor(private readonly service: string) {}
  check = () => true;
  async run(model: OtpModel, { bench, lastMessage }: Real): Promise<void> {
    const wait = model.refuses(this.service, bench.now);
    const repeats = model.repeats(this.service, bench.now);
    const { outcome, code, id } = await bench.send(this.service);
    if (wait !== undefined) {
      expect(outcome).toMatchObject({ kind: 'refused', why: 'policy', refusal: { retryAfter: wait } });
      return;
    }
    expect(outcome.kind).toBe('accepted');
    if (repeats) expect(code).toBe(model.codeOf(this.service));
    model.sent(this.service, code, bench.now);
    lastMessage.set(this.service, id);
  }
  toString = () => `send(${this.service})`;
}

class Verify implements Command {
  constructor(
    private readonly service: string,
    private readonly step: number,
  ) {}
  check = () => true;
  async run(model: OtpModel, { bench }: Real): Promise<void> {
    const otp = wrongFor(model.codeOf(this.service) ?? '0000', this.step);
    const outcome = await bench.verify(otp, this.service);
    expect(outcome).toEqual(model.verify(this.service, otp, bench.now));
  }
  toString = () => `verify(${this.service}, ${this.step === 0 ? 'right' : `wrong by ${this.step}`})`;
}

class Fail implements Command {
  constructor(private readonly service: string) {}
  check = () => true;
  async run(model: OtpModel, { bench, lastMessage }: Real): Promise<void> {
    const id = lastMessage.get(this.service);
    if (id === undefined) return;
    await bench.fail(id);
    model.failed(this.service);
  }
  toString = () => `fail(${this.service})`;
}

class Wait implements Command {
  constructor(private readonly seconds: number) {}
  check = () => true;
  async run(_: OtpModel, { bench }: Real): Promise<void> {
    bench.now += this.seconds * 1000;
  }
  toString = () => `wait(${this.seconds} s)`;
}

const SERVICES = ['a', 'b', 'c', 'd'];
const service = fc.constantFrom(...SERVICES);
/** Moments at which some rule changes its result, and moments just before them. */
const MOMENTS = [1, 59, 60, 239, 240, 241, 299, 300, 599, 600, 3600, 43_200, 86_399, 86_400, 30 * 86_400];

const commands = fc.commands(
  [
    service.map((name) => new Send(name)),
    service.map((name) => new Send(name)),
    fc.tuple(service, fc.nat(2)).map(([name, step]) => new Verify(name, step)),
    service.map((name) => new Verify(name, 1)),
    service.map((name) => new Verify(name, 7)),
    service.map((name) => new Fail(name)),
    fc.constantFrom(...MOMENTS).map((seconds) => new Wait(seconds)),
  ],
  { maxCommands: 120, size: 'max' },
);

describe('OTP compared with the decision table', () => {
  test('send, resend, verify, fail and wait agree in 200 runs', async () => {
    const seen = new Map<string, number>();
    const bench = await new OtpBench().open();
    await fc.assert(
      fc.asyncProperty(commands, async (run) => {
        bench.next();
        const model = new OtpModel();
        const verify = model.verify.bind(model);
        model.verify = (...given) => {
          const outcome = verify(...given);
          seen.set(outcome.kind, (seen.get(outcome.kind) ?? 0) + 1);
          return outcome;
        };
        await fc.asyncModelRun(() => ({ model, real: { bench, lastMessage: new Map() } }), run);
      }),
      { numRuns: 200 },
    );
    // Runs that never get far would prove nothing.
    expect([...seen.keys()].sort()).toEqual(
      ['already_verified', 'exhausted', 'expired', 'locked', 'not_found', 'spent', 'verified', 'wrong'].sort(),
    );
  }, 300_000);
});
