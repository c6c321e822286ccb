import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { describeMessaging, MessagingOptionsError, StorageUnavailableError } from 'nestjs-messaging';
import { AppModule } from './app.module.js';
import { ConfigError, readConfig } from './config.js';
import { DemoAccount } from './demo-account.js';
import { welcomeText } from './welcome-text.js';

async function start(): Promise<void> {
  const config = readConfig();
  const platform = config.httpAdapter === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app = await NestFactory.create(AppModule.with(config), platform, {
    abortOnError: false,
    logger: ['fatal', 'error', 'warn'],
  });
  app.enableShutdownHooks();
  addDocs(app);
  const demo = await app.get(DemoAccount).prepare(config);
  await app.listen(config.port, config.host);
  const { port }: AddressInfo = app.getHttpServer().address();
  console.log(welcomeText(`http://${config.host}:${port}`, demo.apiKey, config));
}

function addDocs(app: INestApplication): void {
  const about = new DocumentBuilder().setTitle('nestjs-messaging sample app').setVersion('1').build();
  SwaggerModule.setup('docs', app, () => describeMessaging(app, SwaggerModule.createDocument(app, about)));
}

start().catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof MessagingOptionsError;
  if (error instanceof StorageUnavailableError) console.error(`The database does not answer. ${error.reason}`);
  else console.error(known ? error.message : error);
  process.exit(1);
});
