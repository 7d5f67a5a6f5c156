#include "papers.h"
void papers_interactive(papers *p) { (void)p; }
