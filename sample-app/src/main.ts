import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { describeMessaging } from 'nestjs-messaging';
import { AppModule } from './app.module.js';
import { baseUrl } from './base-url.js';
import { readConfig } from './config.js';
import { DemoAccount } from './demo-account.js';
import { httpAdapter } from './http-adapter.js';
import { ProgramLogger } from './program-logger.js';
import { addressTrouble, databaseTrouble, sentenceOf } from './trouble.js';
import { welcomeText } from './welcome-text.js';

async function start(): Promise<void> {
  const config = readConfig();
  const app = await NestFactory.create(AppModule.with(config), httpAdapter(config.httpAdapter), {
    abortOnError: false,
    logger: new ProgramLogger(['fatal', 'error', 'warn']),
  }).catch(databaseTrouble);
  app.enableShutdownHooks();
  addDocs(app);
  const demo = await app.get(DemoAccount).prepare(config);
  await app.listen(config.port, config.host).catch(addressTrouble(config));
  const { port }: AddressInfo = app.getHttpServer().address();
  console.log(welcomeText(baseUrl(config.host, port), demo.apiKey, config));
}

function addDocs(app: INestApplication): void {
  const about = new DocumentBuilder().setTitle('nestjs-messaging sample app').setVersion('1').build();
  SwaggerModule.setup('docs', app, () => describeMessaging(app, SwaggerModule.createDocument(app, about)));
}

start().catch((error: unknown) => {
  console.error(sentenceOf(error) ?? error);
  process.exit(1);
});
