import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { describeMessaging } from 'nestjs-messaging';
import { AppModule } from './app.module.js';
import { readConfig } from './config/config.js';
import { httpAdapter, limitWaiting } from './config/http-adapter.js';
import { DemoAccount } from './demo/demo-account.js';
import { ProgramLogger } from './demo/program-logger.js';
import { addressTrouble, databaseTrouble, endOfStart } from './demo/trouble.js';
import { printWelcome } from './demo/welcome.js';

async function start(): Promise<void> {
  const config = readConfig();
  const app = await NestFactory.create(AppModule.with(config), httpAdapter(config.httpAdapter), {
    abortOnError: false,
    forceCloseConnections: true,
    logger: new ProgramLogger(['fatal', 'error', 'warn']),
  }).catch(databaseTrouble);
  app.enableShutdownHooks(['SIGTERM', 'SIGINT']);
  limitWaiting(app.getHttpServer());
  const about = new DocumentBuilder().setTitle('nestjs-messaging sample app').setVersion('1');
  if (config.sms.transport === 'sandbox') about.setExternalDoc('The phones of the sandbox', '/sandbox');
  SwaggerModule.setup('docs', app, () => describeMessaging(app, SwaggerModule.createDocument(app, about.build())));
  const demo = await app.get(DemoAccount).prepare(config);
  await app.listen(config.port, config.host).catch(addressTrouble(config));
  await printWelcome(app, demo, config);
}

start().catch(endOfStart);
