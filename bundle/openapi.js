import { readFileSync, writeFileSync } from 'node:fs';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describeMessaging, MessagingModule } from '../dist/index.js';
import { MemoryStorage } from '../dist/testing/index.js';

// Makes `dist/openapi.json`: what a service with all its capabilities describes, on the options' defaults. The sandbox, which has
// no authentication and is for tests, and the calls of carriers are no part of it: they are not for clients.

class Service {}
Module({
  imports: [
    MessagingModule.forRoot({
      storage: MemoryStorage,
      signatures: ['INFOS', 'ALERTE', 'SERVICE'],
      sms: { tariff: { base: 1, international: 3, home: 'BF' } },
      otp: { pepper: 'only to describe; no code is derived from it' },
      msgapp: { tariff: { text: 1, media: 2 }, credentialsKey: 'only to describe; nothing is encrypted with it' },
    }),
  ],
})(Service);

const { version, description } = JSON.parse(readFileSync('package.json', 'utf8'));
const app = await NestFactory.createApplicationContext(Service, { logger: ['error'], abortOnError: false });
const { paths, tags, ...document } = describeMessaging(app, {
  openapi: '3.1.0',
  info: { title: 'nestjs-messaging', version, description },
  paths: {},
});
await app.close();

const isOurs = (operation) => !operation.tags.includes('Carriers');
const described = {
  ...document,
  tags: tags.filter(({ name }) => name !== 'Carriers'),
  paths: Object.fromEntries(Object.entries(paths).filter(([, item]) => Object.values(item).every(isOurs))),
};
writeFileSync('dist/openapi.json', JSON.stringify(described));
