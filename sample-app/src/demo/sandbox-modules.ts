import { Controller, type DynamicModule, Get, Module, Redirect, type Type } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { SandboxModule } from 'nestjs-messaging';
import type { Config } from '../config/config.js';
import { keptSecrets } from '../config/secrets.js';

@ApiExcludeController()
@Controller()
class HomeController {
  @Get()
  @Redirect('/sandbox')
  home(): void {}
}

/** Redirects the root, where a browser looks first, to the sandbox's page. */
@Module({ controllers: [HomeController] })
class HomeModule {}

/** Returns the modules of the sandbox's endpoints and page if SMS go to the sandbox. */
export function sandboxModules({ sms, secretsFile, hostNames }: Config): (DynamicModule | Type<object>)[] {
  if (sms.transport !== 'sandbox') return [];
  const apiKey = () => keptSecrets(secretsFile).apiKey;
  return [SandboxModule.forRoot({ hosts: hostNames, docs: '/docs', apiKey }), HomeModule];
}
