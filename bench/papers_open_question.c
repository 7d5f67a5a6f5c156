#include "papers.h"
void papers_open_question(papers *p) { (void)p; }
