import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** Sets headers and the status of the answer, from a handler. */
export interface ReplyHeaders {
  /** Replaces the header. Does nothing once the answer is on its way (the deadline's 504). */
  set(name: string, value: string): void;
  /** Answers with this status in the place of the handler's own. Does nothing once the answer is on its way. */
  status(code: number): void;
}

/** What Express's response and Fastify's reply have in common. */
interface PlatformResponse {
  readonly headersSent?: boolean;
  header(name: string, value: string): unknown;
  status(code: number): unknown;
}

/** The headers of the answer, on both platforms; the answer itself stays what the handler returns. */
export const ReplyHeaders = createParamDecorator((_data: unknown, context: ExecutionContext): ReplyHeaders => {
  const response = context.switchToHttp().getResponse<PlatformResponse>();
  return {
    set: (name, value) => {
      if (!response.headersSent) response.header(name, value);
    },
    status: (code) => {
      if (!response.headersSent) response.status(code);
    },
  };
});
