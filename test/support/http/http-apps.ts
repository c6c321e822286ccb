import { describe } from '@jest/globals';
import type { DynamicModule, INestApplication, NestApplicationOptions, Type } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TestingModule } from '@nestjs/testing';

export type Adapter = 'express' | 'fastify';

/** The suite on Express and on Fastify, for behaviour that the HTTP server takes part in. */
export function describeOnBothAdapters(name: string, suite: (adapter: Adapter) => void): void {
  describe.each<Adapter>(['express', 'fastify'])(`${name} (%s)`, suite);
}

/** For rules that the HTTP server takes no part in: Express, or Fastify if `ADAPTER` names it. */
export const ONE_ADAPTER: Adapter = process.env.ADAPTER === 'fastify' ? 'fastify' : 'express';

/** The suite on that adapter. The suites of `describeOnBothAdapters` call every route on both. */
export function describeOnOneAdapter(name: string, suite: (adapter: Adapter) => void): void {
  describe(`${name} (${ONE_ADAPTER})`, () => suite(ONE_ADAPTER));
}

export interface AppSetup {
  /** What a host's `main.ts` does between `create()` and `listen()`: prefix, global pipes, its own middleware … */
  readonly configure?: (app: INestApplication) => void | Promise<void>;
  /** Passed to `NestFactory.create()`. The application logs nothing unless a logger is among the options. */
  readonly options?: NestApplicationOptions;
  /** Replaces a plain adapter of the same kind. */
  readonly platform?: AbstractHttpAdapter;
}

export interface RunningApp {
  /** `http://127.0.0.1:<port>`, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly app: INestApplication;
  close(): Promise<void>;
}

/**
 * Starts an application on a free port of the loopback interface.
 * @param module a root module, or a compiled testing module
 */
export async function startApp(
  module: Type<unknown> | DynamicModule | TestingModule,
  adapter: Adapter,
  { configure, options = {}, platform = plain(adapter) }: AppSetup = {},
): Promise<RunningApp> {
  const appOptions: NestApplicationOptions = { logger: false, abortOnError: false, ...options };
  const app: INestApplication =
    module instanceof TestingModule
      ? module.createNestApplication(platform, appOptions)
      : await NestFactory.create(module, platform, appOptions);
  await configure?.(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    app,
    close: async () => {
      // Connections that a test left open must not keep the server waiting.
      const closed = app.close();
      app.getHttpServer().closeAllConnections?.();
      await closed;
    },
  };
}

function plain(adapter: Adapter): AbstractHttpAdapter {
  return adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter();
}
