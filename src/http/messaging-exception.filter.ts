import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { FaultLog } from '../common/log.js';
import { errorAnswer, logFault } from './errors.js';
import { HostGlobals } from './host-globals.js';
import { HttpSettings } from './http-options.js';
import { rawRequest } from './parameters.js';
import { requestContextOf } from './request-context.js';

/**
 * Answers every error of our controllers in one shape (`docs/http-api.md`, Errors) and in the service's language. It is bound to
 * our controllers only. Nest calls a controller's filter before global ones, so a host's global filters do not see our errors.
 */
@Catch()
export class MessagingExceptionFilter implements ExceptionFilter {
  private readonly log = new FaultLog('Messaging');

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly settings: HttpSettings,
    private readonly globals: HostGlobals,
  ) {}

  /** Answers with the error. Drops the error if the request was already answered (504 at the deadline). */
  catch(error: unknown, host: ArgumentsHost): void {
    this.globals.noteError(error, host);
    const adapter = this.adapterHost.httpAdapter;
    const response: unknown = host.getArgByIndex(1);
    if (adapter.isHeadersSent(response)) return;
    logFault(this.log, error, requestContextOf(rawRequest(host))?.requestId);
    const { body, headers } = errorAnswer(error, this.settings.catalogue);
    // Set explicitly, because the platform warns if the route declares another content type. The charset is left to the platform:
    // with one, NestJS 11 on Fastify would log a warning for each error.
    adapter.setHeader(response, 'Content-Type', 'application/json');
    for (const [name, value] of Object.entries(headers)) adapter.setHeader(response, name, value);
    adapter.reply(response, body, body.statusCode);
  }
}
