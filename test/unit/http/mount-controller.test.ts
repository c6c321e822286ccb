import { describe, expect, test } from '@jest/globals';
import { Body, Get, Injectable, Post, VERSION_NEUTRAL } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { HostGlobalsModule } from '../../../src/http/host-globals.js';
import { HttpSettings, resolveHttpSettings } from '../../../src/http/http-options.js';
import { MessagingController } from '../../../src/http/messaging-controller.js';
import { messagingControllerOptions } from '../../../src/http/messaging-route.js';
import { mountController } from '../../../src/http/mount-controller.js';

@Injectable()
class Greeter {
  readonly text = 'hello';
}

@MessagingController({ authenticated: false })
class HelloController {
  constructor(readonly greeter: Greeter) {}

  @Get()
  hello(): string {
    return this.greeter.text;
  }
}

describe('mountController', () => {
  test('gives each mount a class of its own and leaves the base class unchanged', () => {
    const first = mountController(HelloController, 'one');
    const second = mountController(HelloController, 'two');
    const path = (controller: object): unknown => Reflect.getMetadata('path', controller);
    expect([path(first), path(second), path(HelloController)]).toEqual(['one', 'two', undefined]);
    expect([first.name, second.name]).toEqual(['HelloController', 'HelloController']);
    expect(Reflect.getMetadata('__version__', first)).toBe(VERSION_NEUTRAL);
    expect(messagingControllerOptions(first)).toEqual({ authenticated: false, intake: true });
    expect(messagingControllerOptions(Greeter)).toBeUndefined();
  });

  test('refuses a handler whose input our rules would not see', () => {
    @MessagingController()
    class Careless {
      @Post()
      save(@Body() body: object): object {
        return body;
      }
    }
    expect(() => mountController(Careless, 'x')).toThrow('Careless.save');
  });

  test('inherits what is injected', async () => {
    const mounted = mountController(HelloController, 'one');
    const settings = { provide: HttpSettings, useValue: resolveHttpSettings() };
    const host = { imports: [HostGlobalsModule], controllers: [mounted], providers: [Greeter, settings] };
    const module = await Test.createTestingModule(host).compile();
    expect(module.get(mounted)).toMatchObject({ greeter: { text: 'hello' } });
  });
});
