import { ConsoleLogger, type LogLevel } from '@nestjs/common';

/** Where Nest logs what it throws a moment later; `main.ts` and `operator.ts` say that themselves, in a sentence. */
const THROWN_AS_WELL: readonly unknown[] = ['ExceptionHandler', 'NestApplication'];

/** Nest's logger, which does not tell twice what ended the start. */
export class ProgramLogger extends ConsoleLogger {
  constructor(logLevels: LogLevel[]) {
    super({ logLevels });
  }

  override error(message: unknown, ...more: unknown[]): void {
    if (!THROWN_AS_WELL.includes(more.at(-1))) super.error(message, ...more);
  }
}
