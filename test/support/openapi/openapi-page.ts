import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Adapter } from '../http/http-apps.js';

/** A host that shows one document: what `SwaggerModule` needs and nothing else. */
const HOST = `
import 'reflect-metadata';
import { text } from 'node:stream/consumers';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
class Host {}
Module({})(Host);
const platform = process.argv[1] === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
const app = await NestFactory.create(Host, platform, { logger: ['error'] });
SwaggerModule.setup('docs', app, JSON.parse(await text(process.stdin)));
await app.listen(0, '127.0.0.1');
console.log(app.getHttpServer().address().port);
`;

/**
 * Serves a document with Swagger UI, in a process of its own: `@fastify/static` requires an ES module, which Node
 * allows and Jest does not. Returns the host's URL and its process, which the caller must end.
 */
export async function servePage(document: object, adapter: Adapter): Promise<{ url: string; host: ChildProcess }> {
  const host = spawn(process.execPath, ['--input-type=module', '--eval', HOST, adapter], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  host.stdin.end(JSON.stringify(document));
  const first = once(createInterface(host.stdout), 'line');
  const ended = once(host, 'exit').then(([code]) => {
    throw new Error(`The host of the page has ended with ${code}.`);
  });
  const [port] = await Promise.race([first, ended]);
  ended.catch(() => {});
  return { url: `http://127.0.0.1:${port}`, host };
}
