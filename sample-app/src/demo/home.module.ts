import { Controller, Get, Module, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

@ApiExcludeController()
@Controller()
class HomeController {
  @Get()
  @Redirect('/sandbox')
  home(): void {}
}

/** Leads from the root, where a browser looks first, to the sandbox's page. */
@Module({ controllers: [HomeController] })
export class HomeModule {}
