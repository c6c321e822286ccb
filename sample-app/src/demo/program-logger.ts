import { ConsoleLogger, type LogLevel } from '@nestjs/common';

/** The contexts under which Nest logs an error and then throws it. `main.ts` and `operator.ts` print that error as a sentence. */
const THROWN_AS_WELL: readonly unknown[] = ['ExceptionHandler', 'NestApplication'];

/** Nest's logger, which does not print the error that ended the start a second time. */
export class ProgramLogger extends ConsoleLogger {
  constructor(logLevels: LogLevel[]) {
    super({ logLevels });
  }

  override error(message: unknown, ...more: unknown[]): void {
    if (!THROWN_AS_WELL.includes(more.at(-1))) super.error(message, ...more);
  }
}
