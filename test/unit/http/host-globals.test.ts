import { expect, test } from '@jest/globals';
import { type CanActivate, Get, type NestInterceptor, UseGuards, UseInterceptors } from '@nestjs/common';
import { GUARDS_METADATA, INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { ApplicationConfig, type ModulesContainer } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { MessagingApiKeyGuard } from '../../../src/accounts/keys/api-key.guard.js';
import { Needs } from '../../../src/accounts/keys/needs.decorator.js';
import { HostGlobals } from '../../../src/http/host-globals.js';
import { MessagingController } from '../../../src/http/messaging-controller.js';
import { mountController } from '../../../src/http/mount-controller.js';

class HostGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

class HostInterceptor implements NestInterceptor {
  intercept: NestInterceptor['intercept'] = (_, next) => next.handle();
}

test('what the host binds to a mounted class stays, and each application has a watch of its own', () => {
  @MessagingController()
  class OursController {
    @Get()
    @Needs('balance.read')
    read(): void {}
  }
  const mounted = mountController(OursController, 'ours');
  UseGuards(HostGuard)(mounted);
  UseInterceptors(HostInterceptor)(mounted);
  const controllers = new Map([['ours', { metatype: mounted }]]);
  const modules = new Map([['module', { controllers }]]) as unknown as ModulesContainer;
  const bound = () => ({
    guards: Reflect.getMetadata(GUARDS_METADATA, mounted),
    interceptors: Reflect.getMetadata(INTERCEPTORS_METADATA, mounted),
  });
  const globals = new ApplicationConfig();
  globals.useGlobalInterceptors(new HostInterceptor());
  for (const watched of [true, true, false]) {
    new HostGlobals(watched ? globals : new ApplicationConfig(), modules).watchAnswers();
    const watch = watched ? [expect.any(Object)] : [];
    expect(bound()).toEqual({
      guards: [MessagingApiKeyGuard, HostGuard, ...watch],
      interceptors: [HostInterceptor, ...watch],
    });
  }
});

test('the first hundred answers of a handler are watched, and then none', () => {
  @MessagingController()
  class OursController {
    @Get()
    @Needs('balance.read')
    read(): void {}
  }
  const mounted = mountController(OursController, 'ours');
  const modules = new Map([['module', { controllers: new Map([['ours', { metatype: mounted }]]) }]]);
  const globals = new ApplicationConfig();
  globals.useGlobalInterceptors(new HostInterceptor());
  new HostGlobals(globals, modules as unknown as ModulesContainer).watchAnswers();
  const watch: CanActivate = Reflect.getMetadata(GUARDS_METADATA, mounted).at(-1);
  const send = (): void => undefined;
  const isWatched = () => {
    const response = { statusCode: 200, send };
    const context = new ExecutionContextHost([{}, response], OursController, OursController.prototype.read);
    expect(watch.canActivate(context)).toBe(true);
    return response.send !== send;
  };
  expect(Array.from({ length: 102 }, isWatched)).toEqual([...Array(100).fill(true), false, false]);
});
